package hooks

// Limits bounds what the runtime takes in and gives out. Zero fields mean the
// defaults.
type Limits struct {
	// Depth is how many levels deep JSON given by the host may nest; 200 by
	// default, since stock tools in hooks die on more (IN-10).
	Depth int
	// Number is the longest number in such JSON, in characters; 1,000 by
	// default (IN-10).
	Number int
	// Stdout is the largest answer of a command hook, in bytes; 1 MiB by
	// default. A larger one is invalid output, never parsed in part (CMD-5b).
	Stdout int
	// Stderr is how much of a command hook's stderr is kept, in bytes, head
	// and tail; 64 KiB by default (CMD-5b).
	Stderr int
	// Text is the longest reason, question or context that leaves the
	// runtime, in bytes; 64 KiB by default (TXT-5).
	Text int
}

func (l Limits) withDefaults() Limits {
	for _, d := range [...]struct {
		field *int
		value int
	}{{&l.Depth, 200}, {&l.Number, 1000}, {&l.Stdout, 1 << 20}, {&l.Stderr, 64 << 10}, {&l.Text, 64 << 10}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	return l
}
