//go:build unix

package hooks_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/hookruntime/hooks"
)

// A Local runs a program to its end and tells how it ended.
func ExampleLocal_Exec() {
	var sandbox hooks.Local
	bash, err := sandbox.Interpreter("bash")
	if err != nil {
		log.Fatal(err)
	}
	exit, err := sandbox.Exec(context.Background(), hooks.Process{
		Argv:   append(bash, "-c", `read -r line; echo "got $line"; exit 2`),
		Stdin:  strings.NewReader("a line\n"),
		Stdout: os.Stdout,
	})
	fmt.Println(exit.Code, err)
	// Output:
	// got a line
	// 2 <nil>
}
