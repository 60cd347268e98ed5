package hooks

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scanWhole returns what the scanner finds in one piece, "<none>" for nothing
// yet, "<nil>" for no value, and how many bytes it needed.
func scanWhole(key, text string) (string, int) {
	s := argumentScanner{key: key}
	for i := range len(text) {
		if s.feed(text[i : i+1]) {
			if s.value == nil {
				return "<nil>", i + 1
			}
			return *s.value, i + 1
		}
	}
	return "<none>", len(text)
}

// Seed 5.1: as soon as just that argument has finished streaming.
func TestProgressArgument(t *testing.T) {
	for name, c := range map[string]struct{ text, want, rest string }{
		"plain":                      {`{"path":"index.html","content":"long`, "index.html", `,"content":"long`},
		"last":                       {`{"content":"x","path":"a"}`, "a", "}"},
		"white space":                {" {\n \"path\" :\t\"a\" ,", "a", " ,"},
		"escapes":                    {`{"path":"a\"\\\/\n\u0041b"}`, "a\"\\/\nAb", "}"},
		"surrogate pair":             {`{"path":"\ud83d\ude00"}`, "😀", "}"},
		"half a pair":                {`{"path":"\ud83dx"}`, "\ufffdx", "}"},
		"raw UTF-8":                  {`{"path":"é😀"}`, "é😀", "}"},
		"invalid UTF-8":              {"{\"path\":\"\xff\"}", "\ufffd", "}"},
		"an escaped key":             {`{"p\u0061th":"a"}`, "a", "}"},
		"a nested key of that name":  {`{"o":{"path":"no","a":["path"]},"l":[{"path":"no"}],"path":"yes"}`, "yes", "}"},
		"the key as a value":         {`{"a":"path","b":"\"path\":\"no\"","path":"yes"}`, "yes", "}"},
		"brackets in strings":        {`{"o":{"a":"}]\"}"},"path":"yes"}`, "yes", "}"},
		"twice: the first counts":    {`{"path":"one","path":"two"}`, "one", `,"path":"two"}`},
		"another case":               {`{"PATH":"no","path":"yes"}`, "yes", "}"},
		"empty":                      {`{"path":""}`, "", "}"},
		"null":                       {`{"path":null,"a":1}`, "<nil>", `"a":1}`},
		"a number, once it is ended": {`{"path":12.50 }`, "12.50", "}"},
		"true":                       {`{"path":true}`, "true", ""},
		"an object":                  {`{"path":{"a": [1, "}"]},"b":1}`, `{"a":[1,"}"]}`, `,"b":1}`},
		"never":                      {`{"a":1,"b":[true]}`, "<nil>", ""},
		"no arguments":               {`{}`, "<nil>", ""},
		"still under way":            {`{"path":"index.ht`, "<none>", ""},
		"a key under way":            {`{"pa`, "<none>", ""},
		"a number under way":         {`{"path":12`, "<none>", ""},
		"nothing":                    {``, "<none>", ""},
		"no object":                  {`["path"]`, "<nil>", `"path"]`},
		"no JSON behind the key":     {`{"path" "a"}`, "<nil>", `a"}`},
		"no JSON behind a value":     {`{"a":1 2,"path":"a"}`, "<nil>", `,"path":"a"}`},
		"no value":                   {`{"path":,`, "<nil>", ""},
		"a control character":        {"{\"path\":\"a\x00\",", "<nil>", ","},
		"a broken number":            {`{"path":12x,`, "<nil>", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, n := scanWhole("path", c.text)
			require.Equal(t, c.want, got)
			require.Equal(t, c.rest, c.text[n:], "it waits for no more than it needs")
		})
	}
}

// Other arguments are not kept, however long.
func TestProgressKeepsOnlyWhatItNeeds(t *testing.T) {
	s := argumentScanner{key: "path"}
	s.feed(`{"content":"`)
	chunk := strings.Repeat("x", 1<<10)
	for range 1000 {
		s.feed(chunk)
	}
	require.Less(t, cap(s.kept), 1<<10)
}

// FuzzProgress: chunking never changes the result, and for a JSON object it is
// the first value of the key.
func FuzzProgress(f *testing.F) {
	for _, s := range []string{
		`{"path":"a\ud83d\ude00b","path":"two"}`, `{"o":{"path":[1,{"path":2}]},"path":{"a":"}"}}`, `{"a":1e5,"path":-1.5 }`,
		`{"path":null}`, `{"p\u0061th":"é"}`, "{\"path\":\"\xed\xa0\x80\"}", `{"path"`, `[]`, ``, `{"":"x"}`, `{"path":tru}`,
	} {
		f.Add(s, "path", uint16(3))
	}
	f.Fuzz(func(t *testing.T, text, key string, cuts uint16) {
		want, _ := scanWhole(key, text)
		s := argumentScanner{key: key}
		rest, done := text, false
		for i := 0; rest != "" && !done; i++ {
			n := min(len(rest), 1+int(cuts>>(i%13))%7)
			done = s.feed(rest[:n])
			rest = rest[n:]
		}
		got := "<none>"
		switch {
		case done && s.value == nil:
			got = "<nil>"
		case done:
			got = *s.value
		}
		if got != want {
			t.Fatalf("in pieces %q, byte by byte %q", got, want)
		}
		if first, ok := firstValue(text, key); ok && first != want {
			t.Fatalf("found %q, want %q", want, first)
		}
	})
}

// firstValue is the oracle: what encoding/json finds in a whole object.
func firstValue(text, key string) (string, bool) {
	var all map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &all) != nil || all == nil {
		return "", false
	}
	dec := json.NewDecoder(strings.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return "", false
	}
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return "", false
		}
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return "", false
		}
		if k != json.Token(key) {
			continue
		}
		var s *string
		if json.Unmarshal(raw, &s) != nil {
			var compact bytes.Buffer
			if json.Compact(&compact, raw) != nil {
				return "", false
			}
			return compact.String(), true
		}
		if s == nil {
			return "<nil>", true
		}
		return *s, true
	}
	return "<nil>", true
}
