package wire

import (
	"errors"
	"strings"
	"testing"
)

func TestTree(t *testing.T) {
	const text = ` {"a": [1.50, "\u0041\n", null], "A" : {}, "a":-0e1} `
	v, err := Tree([]byte(text), Limits{Depth: 2})
	if err != nil {
		t.Fatal(err)
	}
	if v.Kind != '{' || len(v.Keys) != 3 || len(v.Items) != 3 {
		t.Fatalf("%+v", v)
	}
	for i, want := range []string{"a", "A", "a"} {
		if k := v.Keys[i]; k.Text != want || text[k.Offset:k.Offset+3] != `"`+want+`"` {
			t.Errorf("key %d: %+v", i, k)
		}
	}
	list := v.Items[0].Items
	if list[0].Text != "1.50" || list[1].Text != "A\n" || list[2].Kind != 'n' || v.Items[2].Text != "-0e1" {
		t.Errorf("%+v", v)
	}
	if text[list[1].Offset] != '"' || text[v.Items[1].Offset] != '{' {
		t.Errorf("%+v", v)
	}
}

func TestTreeFaults(t *testing.T) {
	for text, want := range map[string]Error{
		``:                        {Fault: FaultSyntax, Offset: 0},
		`{"a":1} x`:               {Fault: FaultSyntax, Offset: 8},
		`{"a":1,}`:                {Fault: FaultSyntax, Offset: 7},
		`[1 2]`:                   {Fault: FaultSyntax, Offset: 3},
		`{"a" 1}`:                 {Fault: FaultSyntax, Offset: 5},
		`[`:                       {Fault: FaultSyntax, Offset: 1},
		"[\"\xff\"]":              {Fault: FaultUTF8, Offset: 2},
		strings.Repeat("[", 1000): {Fault: FaultDepth, Offset: 3, Limit: 3},
	} {
		_, err := Tree([]byte(text), Limits{Depth: 3})
		var e *Error
		if !errors.As(err, &e) || *e != want {
			t.Errorf("%.20q: %v, want %v", text, err, &want)
		}
	}
}
