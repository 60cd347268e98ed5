module github.com/hookruntime/hooks

go 1.25
