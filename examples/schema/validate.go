// Package schema shows how an editor or a build step checks hook
// configuration with [hooks.Schema] and any library for JSON Schema. It is a
// module of its own, so that the library does not become a dependency of the
// hooks module.
package schema

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/hookruntime/hooks"
)

// Compile compiles the schema of configuration documents.
func Compile() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(hooks.Schema()))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("hooks.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("hooks.json")
}

// Validate checks every document of a YAML file, or the value of a JSON file:
// one whose name ends in .json.
func Validate(s *jsonschema.Schema, name string, data []byte) error {
	if strings.HasSuffix(name, ".json") {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return err
		}
		return s.Validate(doc)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	seen := false
	for {
		var doc any
		switch err := dec.Decode(&doc); {
		case err == io.EOF && !seen:
			return fmt.Errorf("no document")
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if doc == nil {
			continue // an empty document is skipped by the loaders too
		}
		seen = true
		if err := s.Validate(doc); err != nil {
			return err
		}
	}
}
