package wire_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/quick"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks/internal/wire"
)

func TestCompactKeepsTheValue(t *testing.T) {
	for in, want := range map[string]string{
		` { "b" : 1 , "a" : [ ] } `: `{"b":1,"a":[]}`,
		`{"id":9007199254740993,"n":12345678901234567890,"f":1.0,"e":1e400,"z":-0,"s":0.1}`: `{"id":9007199254740993,"n":12345678901234567890,"f":1.0,"e":1e400,"z":-0,"s":0.1}`,
		"\"\\u003c <&\u2028 \\/\"":     "\"\\u003c <&\u2028 \\/\"",
		"[1,\n\t2 ,{\"k\":\r\n null}]": `[1,2,{"k":null}]`,
		`"a  b"`:                       `"a  b"`,
		`{"a":1,"a":2}`:                `{"a":1,"a":2}`,
		`{}`:                           `{}`,
		`[[],{},[{"x":[true,false]}]]`: `[[],{},[{"x":[true,false]}]]`,
	} {
		got, err := wire.Compact([]byte("x"), []byte(in), wire.Limits{})
		require.NoError(t, err, in)
		assert.Equal(t, "x"+want, string(got))
	}
}

func TestCompactRefuses(t *testing.T) {
	for in, fault := range map[string]wire.Fault{
		``:                  wire.FaultSyntax,
		`{`:                 wire.FaultSyntax,
		`{"a"`:              wire.FaultSyntax,
		`{"a":}`:            wire.FaultSyntax,
		`{"a":1,}`:          wire.FaultSyntax,
		`[1,]`:              wire.FaultSyntax,
		`[1}`:               wire.FaultSyntax,
		`{"a":1]`:           wire.FaultSyntax,
		`01`:                wire.FaultSyntax,
		`1.`:                wire.FaultSyntax,
		`1e`:                wire.FaultSyntax,
		`-`:                 wire.FaultSyntax,
		`tru`:               wire.FaultSyntax,
		`"\x"`:              wire.FaultSyntax,
		`"\u12g4"`:          wire.FaultSyntax,
		"\"a\nb\"":          wire.FaultSyntax,
		`{} {}`:             wire.FaultSyntax,
		`{'a':1}`:           wire.FaultSyntax,
		"\"\xff\"":          wire.FaultUTF8,
		`[[[[1]]]]`:         wire.FaultDepth,
		`{"a":12345678901}`: wire.FaultNumber,
	} {
		dst, err := wire.Compact(nil, []byte(in), wire.Limits{Depth: 3, Number: 10})
		var e *wire.Error
		require.ErrorAs(t, err, &e, in)
		assert.Equal(t, fault, e.Fault, in)
		assert.Empty(t, dst)
	}
}

// A scanner that recursed would die on this.
func TestDepthIsNotTheStack(t *testing.T) {
	deep := strings.Repeat("[", 5e6) + strings.Repeat("]", 5e6)
	_, err := wire.Compact(nil, []byte(deep), wire.Limits{})
	assert.NoError(t, err)
}

// FuzzCompact holds the scanner against encoding/json.
func FuzzCompact(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-3,"x\u00e9"],"b":{}}`, ` [true , null]`, `"\ud800"`, `{"a":1,"A":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := wire.Compact(nil, data, wire.Limits{})
		valid := json.Valid(data)
		if err == nil && !valid {
			t.Fatalf("%q is not valid JSON", data)
		}
		if err != nil {
			if e := err.(*wire.Error); valid && e.Fault != wire.FaultUTF8 {
				t.Fatalf("%q is valid JSON: %v", data, err)
			}
			return
		}
		again, err := wire.Compact(nil, got, wire.Limits{})
		if err != nil || string(again) != string(got) {
			t.Fatalf("compacting is not stable: %q %q %v", got, again, err)
		}
		var a, b any
		if json.Unmarshal(data, &a) == nil {
			if json.Unmarshal(got, &b) != nil {
				t.Fatalf("%q became %q", data, got)
			}
			assert.Equal(t, a, b)
		}
		if members, err := wire.Members(data); err == nil {
			w := wire.NewWriter(nil)
			w.Open()
			for _, m := range members {
				if err := w.Raw(m.Key, m.Value, wire.Limits{}); err != nil {
					t.Fatal(err)
				}
			}
			w.Close()
			var c any
			if json.Unmarshal(w.Bytes(), &c) == nil {
				assert.Equal(t, b, c)
			}
		}
	})
}

func TestMembersKeepsBothOfTwoKeys(t *testing.T) {
	members, err := wire.Members([]byte(` {"ok" : true, "OK":1 ,"\u006fk": false } `))
	require.NoError(t, err)
	require.Len(t, members, 3)
	assert.Equal(t, []string{"ok", "OK", "ok"}, []string{members[0].Key, members[1].Key, members[2].Key})
	assert.Equal(t, "false", string(members[2].Value))
}

func TestObjectStopsBehindItsBrace(t *testing.T) {
	text := []byte(`xx {"a":"}"} rest`)
	members, end, err := wire.Object(text, 2)
	require.NoError(t, err)
	assert.Len(t, members, 1)
	assert.Equal(t, " rest", string(text[end:]))
}

func TestAppendStringEscapesOnlyWhatJSONDemands(t *testing.T) {
	assert.Equal(t, "\"&& <b> \u2028 \\\"\\\\ \\n\\t\\u0001 \ufffd\u007f\"", string(wire.AppendString(nil, "&& <b> \u2028 \"\\ \n\t\x01 \xff\x7f")))
	roundTrip := func(s string) bool {
		var back string
		err := json.Unmarshal(wire.AppendString(nil, s), &back)
		return err == nil && back == strings.ToValidUTF8(s, "\ufffd") || !utf8Runs(s)
	}
	require.NoError(t, quick.Check(roundTrip, nil))
}

// utf8Runs reports that s has no two invalid bytes in a row, which
// strings.ToValidUTF8 would replace by one.
func utf8Runs(s string) bool { return strings.ToValidUTF8(s, "") == s }

func TestCollisions(t *testing.T) {
	big := `{"k0":0`
	for i := range 40 {
		big += `,"key` + strings.Repeat("x", i) + `":1`
	}
	for in, want := range map[string]*wire.Collision{
		`{"a":1,"b":{"a":1}}`:             nil,
		`{"a":1,"a":2}`:                   {First: 1, Second: 7},
		`{"a":[{"path":1,"PATH":2}]}`:     {First: 7, Second: 16},
		`{"k":1,"` + "\u212a" + `":2}`:    {First: 1, Second: 7}, // the Kelvin sign
		`{"a":1,"\u0061":2}`:              {First: 1, Second: 7},
		`[{"a":1},{"a":1}]`:               nil,
		big + `}`:                         nil,
		big + `,"KEYXX":2}`:               {First: strings.Index(big, `"keyxx"`), Second: len(big) + 1},
		`{"a":{"x":1},"b":{"x":1},"x":1}`: nil,
	} {
		_, got, err := wire.CompactKeys(nil, []byte(in), wire.Limits{})
		require.NoError(t, err)
		assert.Equal(t, want, got, in)
	}
}
