package hooks_test

import (
	"encoding/json"
	"fmt"

	"github.com/hookruntime/hooks"
)

func ExampleSchema() {
	var s struct {
		Schema string `json:"$schema"`
		Title  string `json:"title"`
	}
	err := json.Unmarshal(hooks.Schema(), &s)
	fmt.Println(s.Schema, s.Title, err)
	// Output: https://json-schema.org/draft/2020-12/schema Hooks of the hook data contract <nil>
}
