package hooks

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/hookruntime/hooks/internal/wire"
)

// readJSON reads a file that holds one JSON value. An empty file has no
// documents.
func readJSON(data []byte) ([]*node, []fault) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	v, err := wire.Tree(data, wire.Limits{Depth: maxNesting})
	if err != nil {
		return nil, []fault{jsonFault(data, err)}
	}
	p := jsonPlaces{data: data, at: place{1, 1}}
	return []*node{p.node(&v)}, nil
}

func jsonFault(data []byte, err error) fault {
	var e *wire.Error
	if !errors.As(err, &e) {
		return fault{place{1, 1}, err.Error()}
	}
	f := fault{placeOf(data, e.Offset), "not valid JSON here"}
	switch {
	case e.Fault == wire.FaultDepth:
		f.message = "nested too deeply for a configuration file"
	case e.Offset >= len(data):
		f.message = "the JSON ends too early"
	case data[e.Offset] == '/' || data[e.Offset] == '#':
		f.message += ": JSON has no comments"
	case data[e.Offset] == '}' || data[e.Offset] == ']':
		f.message += ": a comma before a closing bracket is not allowed, nor a key without a value"
	case data[e.Offset] == '{' || bytes.HasPrefix(data[e.Offset:], []byte("---")):
		f.message += ": a .json file holds one document"
	}
	return f
}

// jsonPlaces finds lines and columns. It goes through the file once, as the
// tree is walked in the order of the file.
type jsonPlaces struct {
	data []byte
	pos  int
	at   place
}

func (p *jsonPlaces) to(offset int) place {
	for p.pos < offset {
		r, n := utf8.DecodeRune(p.data[p.pos:])
		p.pos += n
		p.at.col++
		if r == '\n' {
			p.at = place{p.at.line + 1, 1}
		}
	}
	return p.at
}

func (p *jsonPlaces) node(v *wire.Value) *node {
	n := &node{at: p.to(v.Offset), text: v.Text}
	switch v.Kind {
	case '{':
		n.kind = nodeMapping
		n.members = make([]member, len(v.Keys))
		for i, k := range v.Keys {
			at := p.to(k.Offset)
			n.members[i] = member{key: k.Text, at: at, value: p.node(&v.Items[i])}
		}
	case '[':
		n.kind = nodeList
		n.items = make([]*node, len(v.Items))
		for i := range v.Items {
			n.items[i] = p.node(&v.Items[i])
		}
	case 'n':
		n.kind = nodeNull
	default:
		n.kind, n.quoted = nodeScalar, v.Kind == '"'
	}
	return n
}
