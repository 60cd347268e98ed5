// Hookrun tries hooks against a captured payload before they are deployed,
// checks hook files, and runs policy tests. See hookrun -help.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/hookruntime/hooks"
)

// The exit codes.
const (
	exitProceeds = 0 // pass, allow; also a plan, a clean check, passed tests
	exitError    = 1 // usage, loading or evaluation error; a failed check or test
	exitBlocked  = 2 // reject, deny, stop
	exitAsk      = 3
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the whole program.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parseArgs(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, helpText)
		return exitProceeds
	case err != nil:
		fmt.Fprintf(stderr, "hookrun: %v\nrun hookrun -help for a page of help\n", err)
		return exitError
	}
	var code int
	switch o.mode() {
	case "check":
		code, err = check(o, stdout, stderr)
	case "schema":
		code, err = schema(stdout)
	case "test":
		code, err = test(o, stdout)
	default:
		code, err = evaluate(o, stdin, stdout, stderr)
	}
	if err != nil {
		printError(stderr, err)
		return exitError
	}
	return code
}

// schema prints the JSON Schema of hook files.
func schema(stdout io.Writer) (int, error) {
	_, err := stdout.Write(hooks.Schema())
	return exitProceeds, err
}

// printError prints every error that was joined into one, findings of hook
// files as a compiler would.
func printError(w io.Writer, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			printError(w, e)
		}
		return
	}
	if ce := (*hooks.ConfigError)(nil); errors.As(err, &ce) {
		for _, d := range ce.Diagnostics {
			fmt.Fprintln(w, d)
		}
		return
	}
	fmt.Fprintln(w, err)
}
