package wire

import (
	"strings"
	"unicode"
)

// Collision is a pair of keys in one object that a reader may take for one:
// equal, or equal when case is folded, as encoding/json does.
type Collision struct {
	First, Second int // byte offsets of the two keys
}

// keySets holds the keys of every open object. Only the first collision of a
// text is kept.
type keySets struct {
	sets  []keySet
	depth int
	found *Collision
}

// linearKeys is how many keys are compared one by one before a map is made.
const linearKeys = 12

type keySet struct {
	list []keyAt
	byID map[string]int // folded key -> offset, once list has outgrown linearKeys
}

type keyAt struct {
	key    string
	offset int
}

func (k *keySets) open() {
	if k.depth == len(k.sets) {
		k.sets = append(k.sets, keySet{})
	}
	s := &k.sets[k.depth]
	s.list, s.byID = s.list[:0], nil
	k.depth++
}

func (k *keySets) close() { k.depth-- }

func (k *keySets) add(raw []byte, offset int) {
	if k.found != nil {
		return
	}
	key, _ := Unquote(raw)
	s := &k.sets[k.depth-1]
	if s.byID == nil {
		for _, o := range s.list {
			if strings.EqualFold(o.key, key) {
				k.found = &Collision{o.offset, offset}
				return
			}
		}
		s.list = append(s.list, keyAt{key, offset})
		if len(s.list) > linearKeys {
			s.byID = make(map[string]int, 4*linearKeys)
			for _, o := range s.list {
				s.byID[fold(o.key)] = o.offset
			}
		}
		return
	}
	id := fold(key)
	if first, ok := s.byID[id]; ok {
		k.found = &Collision{first, offset}
		return
	}
	s.byID[id] = offset
}

// fold maps all strings that strings.EqualFold takes for equal to one.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, s)
}
