module github.com/hookruntime/hooks

go 1.25

require (
	github.com/dlclark/regexp2 v1.12.0
	github.com/stretchr/testify v1.12.1
	gopkg.in/yaml.v3 v3.0.1
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
