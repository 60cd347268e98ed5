package story

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/hookruntime/hooks/internal/wire"
)

// json turns a YAML value into JSON. The digits of numbers and the order of
// keys are kept; a date is the text as it is written. Aliases are refused: a
// story shows what a hook gets, and a few of them can mean gigabytes.
func (d *decoder) json(n *yaml.Node) []byte { return d.appendJSON(nil, n) }

func (d *decoder) appendJSON(dst []byte, n *yaml.Node) []byte {
	switch n.Kind {
	case yaml.MappingNode:
		dst = append(dst, '{')
		for i, p := range d.pairs(n, "a JSON object") {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(wire.AppendString(dst, p.key), ':')
			dst = d.appendJSON(dst, p.value)
		}
		return append(dst, '}')
	case yaml.SequenceNode:
		dst = append(dst, '[')
		for i, item := range n.Content {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = d.appendJSON(dst, item)
		}
		return append(dst, ']')
	case yaml.ScalarNode:
		return d.appendScalar(dst, n)
	}
	d.fail(n, "JSON is written out here, not as %s", describe(n))
	return append(dst, "null"...)
}

func (d *decoder) appendScalar(dst []byte, n *yaml.Node) []byte {
	switch n.ShortTag() {
	case "!!str", "!!timestamp":
		return wire.AppendString(dst, n.Value)
	case "!!null":
		return append(dst, "null"...)
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return strconv.AppendBool(dst, b)
		}
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return append(dst, n.Value...)
		}
		if i, ok := new(big.Int).SetString(n.Value, 0); ok { // 0x1f, 1_000
			return i.Append(dst, 10)
		}
		var f float64
		if n.Decode(&f) == nil {
			if out, err := json.Marshal(f); err == nil { // not .inf, not .nan
				return append(dst, out...)
			}
		}
	}
	d.fail(n, "%s is nothing that JSON can say; quote it if it is a text", describe(n))
	return append(dst, "null"...)
}

// jsonNode turns JSON into a YAML value that reads back as the same JSON.
func jsonNode(data []byte) *yaml.Node {
	n := &yaml.Node{}
	if yaml.Unmarshal(data, n) != nil || len(n.Content) == 0 {
		return textNode(string(data))
	}
	return plain(n.Content[0])
}

// plain drops the JSON look of a value: the writer chooses quotes as needed.
func plain(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.ScalarNode {
		if n.Style = 0; len(n.Content) == 0 {
			n.Style = yaml.FlowStyle
		}
	} else if n.ShortTag() == "!!str" {
		return textNode(n.Value)
	}
	for i, c := range n.Content {
		n.Content[i] = plain(c)
	}
	return n
}

// sameJSON compares two JSON values: key order, white space and escapes do not
// count, the digits of numbers do.
func sameJSON(a, b []byte) bool {
	va, okA := decodeJSON(a)
	vb, okB := decodeJSON(b)
	if !okA || !okB {
		return bytes.Equal(a, b)
	}
	ca, errA := json.Marshal(va)
	cb, errB := json.Marshal(vb)
	return errA == nil && errB == nil && bytes.Equal(ca, cb)
}

func decodeJSON(data []byte) (any, bool) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, false
	}
	_, err := dec.Token()
	return v, err == io.EOF
}

// textNode writes a text so that it reads back unchanged: a block for several
// lines, plain or quoted for one.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	if n.Style == yaml.LiteralStyle && bytes.ContainsAny([]byte(s), "\t\r") {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
