module github.com/hookruntime/hooks/examples/sshsandbox

go 1.25

require (
	github.com/hookruntime/hooks v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/dlclark/regexp2 v1.12.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/crypto v0.48.0
	golang.org/x/sys v0.41.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace github.com/hookruntime/hooks => ../..
