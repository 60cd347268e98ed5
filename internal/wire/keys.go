package wire

import (
	"bytes"
	"strings"
	"unicode"
)

// Collision is a pair of keys in one object that a reader may take for one:
// equal, or equal when case is folded, as encoding/json does.
type Collision struct {
	First, Second int // byte offsets of the two keys
}

// keySets holds the keys of every open object, the innermost last, in one
// list. Only the first collision of a text is kept.
type keySets struct {
	// The list: the first ones in an array, so that most values need no
	// allocation.
	len   int
	few   [8]keyAt
	more  []keyAt
	start int // where the keys of the innermost object begin
	// byID maps folded keys to offsets, for each object, by its start, that has
	// more keys than one would compare one by one.
	byID  map[int]map[string]int
	found *Collision
}

func (k *keySets) at(i int) *keyAt {
	if i < len(k.few) {
		return &k.few[i]
	}
	return &k.more[i-len(k.few)]
}

func (k *keySets) push(key keyAt) {
	if k.len < len(k.few) {
		k.few[k.len] = key
	} else {
		k.more = append(k.more[:k.len-len(k.few)], key)
	}
	k.len++
}

// linearKeys is how many keys are compared one by one.
const linearKeys = 12

// keyAt is a decoded key, as a part of the text where it holds no escapes. In
// front of an object's keys stands one without a key, whose offset is the start
// of the object around it.
type keyAt struct {
	key    []byte
	offset int
}

func (k *keySets) open() {
	k.push(keyAt{offset: k.start})
	k.start = k.len
}

func (k *keySets) close() {
	delete(k.byID, k.start)
	k.len = k.start - 1
	k.start = k.at(k.len).offset
}

func (k *keySets) add(raw []byte, offset int) {
	if k.found != nil {
		return
	}
	key := raw[1 : len(raw)-1]
	if bytes.IndexByte(key, '\\') >= 0 {
		decoded, _ := Unquote(raw)
		key = []byte(decoded)
	}
	if byID := k.byID[k.start]; byID != nil {
		id := fold(key)
		if first, ok := byID[id]; ok {
			k.found = &Collision{first, offset}
		}
		byID[id] = offset
		return
	}
	for i := k.start; i < k.len; i++ {
		if o := k.at(i); bytes.EqualFold(o.key, key) {
			k.found = &Collision{o.offset, offset}
			return
		}
	}
	k.push(keyAt{key, offset})
	if k.len-k.start > linearKeys {
		byID := make(map[string]int, 4*linearKeys)
		for i := k.start; i < k.len; i++ {
			byID[fold(k.at(i).key)] = k.at(i).offset
		}
		if k.byID == nil {
			k.byID = map[int]map[string]int{}
		}
		k.byID[k.start] = byID
	}
}

// fold maps all keys that bytes.EqualFold takes for equal to one.
func fold(key []byte) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, string(key))
}
