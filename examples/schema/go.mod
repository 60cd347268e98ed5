module github.com/hookruntime/hooks/examples/schema

go 1.25

require (
	github.com/hookruntime/hooks v0.0.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.2
	gopkg.in/yaml.v3 v3.0.1
)

require (
	github.com/dlclark/regexp2 v1.12.0 // indirect
	golang.org/x/text v0.14.0 // indirect
)

replace github.com/hookruntime/hooks => ../..
