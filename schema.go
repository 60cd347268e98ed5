package hooks

import _ "embed"

//go:embed schema.json
var schemaText string

// Schema returns a JSON Schema (draft 2020-12) of the configuration shapes,
// for editors. It knows what stands where and which values there are; what
// takes a look at the content (a script's length, whether a pattern compiles,
// names used twice) only the loaders know. A key that the loaders warn of is
// refused by it. The caller may change the returned bytes.
func Schema() []byte { return []byte(schemaText) }
