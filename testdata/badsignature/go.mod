module badsignature

go 1.25

require github.com/hookruntime/hooks v0.0.0

replace github.com/hookruntime/hooks => ../..
