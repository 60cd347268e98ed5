package hooks

// Change is what a hook that may replace a value returns. The zero Change
// keeps it, so that no value, not even "" or nil, has to mean "unchanged".
type Change[T any] struct {
	value    T
	replaces bool
}

// Keep leaves the current value. It is the zero Change.
func Keep[T any]() Change[T] { return Change[T]{} }

// Replace replaces the current value.
func Replace[T any](v T) Change[T] { return Change[T]{value: v, replaces: true} }

// Value returns the new value, and whether there is one.
func (c Change[T]) Value() (T, bool) { return c.value, c.replaces }

// or returns the new value, or the old one when the change keeps it.
func (c Change[T]) or(old T) T {
	if c.replaces {
		return c.value
	}
	return old
}
