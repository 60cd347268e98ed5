package sshsandbox_test

import (
	"log"

	"golang.org/x/crypto/ssh"

	"github.com/hookruntime/hooks"
	"github.com/hookruntime/hooks/examples/sshsandbox"
)

// Hooks run where the tools run, over the connection that the tools use.
func Example() {
	var config *ssh.ClientConfig // of the host
	client, err := ssh.Dial("tcp", "build.example:22", config)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	policy, _, err := hooks.Load(hooks.TierSystem, "guard.yaml")
	if err != nil {
		log.Fatal(err)
	}
	rt, err := hooks.New(policy, &hooks.Options{
		Conduct: hooks.Hardened,
		Sandbox: sshsandbox.New(client, &sshsandbox.Options{Dir: "/srv/work", MaxSessions: 6}),
	})
	if err != nil {
		log.Fatal(err) // also when the interpreter of a hook is not there
	}
	_ = rt
}
