package hooks

import (
	"bytes"
	"iter"

	"github.com/hookruntime/hooks/internal/wire"
)

// salvage looks for the first rejection or deny among the JSON objects in a
// text (QRK-5, QRK-8, both Hardened). An ask or a pass is none.
func (ar answerReader) salvage(text []byte) (Result, bool) {
	var cut bool // the safe reading of a text that hides its answer is a rejection
	for members := range objects(text, &cut) {
		rd := ar.object(members)
		if rd.result.Rejects || rd.result.Permission == PermissionDeny {
			return rd.result, true
		}
	}
	if cut {
		return Result{Rejects: true}, true
	}
	return Result{}, false
}

// objects yields the members of the JSON objects in a text, one inside
// another not counted. Searching costs at most some 16 passes over the text:
// a text made of opening braces would cost a pass for each. Then cut is set.
func objects(text []byte, cut *bool) iter.Seq[[]wire.Member] {
	return func(yield func([]wire.Member) bool) {
		budget := 16*len(text) + 64<<10
		for at := 0; ; {
			brace := bytes.IndexByte(text[at:], '{')
			if brace < 0 {
				return
			}
			at += brace
			members, end, err := wire.Object(text, at)
			if err == nil && !yield(members) {
				return
			}
			if budget -= end - at; budget < 0 {
				*cut = true
				return
			}
			if at++; err == nil {
				at = end
			}
		}
	}
}
