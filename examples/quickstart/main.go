// Quickstart runs a small agent under hooks and prints what happens.
//
// The agent is real in everything but its model: a loop (loop.go) calls tools
// (tools.go) in a temporary folder, as a script (script.go) tells it to. The
// hooks come from the YAML files in hooks/, one folder for each tier, and from
// gohooks.go. Edit one and run it again:
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart -approve           answer every question yes
//	go run ./examples/quickstart -without classify  leave one hook out
//	go run ./examples/quickstart -hooks DIR         use the hooks in DIR/system, DIR/agent and DIR/user
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"github.com/hookruntime/hooks"
)

//go:embed hooks workspace
var embedded embed.FS

func main() {
	// SIGPIPE too: piped into head, the program would die with its workspace
	// still there.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// run is the program. It leaves nothing behind, whatever its end.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	approve := flags.Bool("approve", false, "answer every question yes instead of no")
	hardened := flags.Bool("hardened", false, "use the Hardened conduct instead of Contract")
	dir := flags.String("hooks", "", "use the hook files in this `folder` instead of the built-in ones")
	without := flags.String("without", "", "leave out the hook of this `name`")
	if err := flags.Parse(args); err != nil {
		return err
	}

	workspace, err := makeWorkspace()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(workspace)) }()

	// Hooks see what the tools see: both run in this sandbox.
	sandbox := &hooks.Local{Dir: workspace}
	opts := &hooks.Options{Sandbox: sandbox, Model: judge{}}
	if *hardened {
		opts.Conduct = hooks.Hardened
	}
	t := &transcript{out: out}
	t.line("conduct: %s; questions are answered: %s", opts.Conduct, yesNo(*approve))

	var files fs.FS = os.DirFS(*dir)
	if *dir == "" {
		files, _ = fs.Sub(embedded, "hooks") // errs only on an invalid path
	}
	configured, err := collect(files, sandbox, *without, t)
	if err != nil {
		return err
	}
	rt, err := hooks.New(configured, opts)
	if err != nil {
		return err
	}
	for _, w := range rt.Warnings() {
		t.line("%s", w)
	}

	box, err := newToolbox(workspace, sandbox)
	if err != nil {
		return err
	}
	defer box.close()
	agent := &loop{
		agent: "assistant", mode: "Review", runtime: rt, model: assistantScript(), tools: box.tools(), transcript: t,
		user: func(question string) bool {
			t.line("the user is asked: %s %s", question, yesNo(*approve))
			return *approve
		},
	}
	if _, err := agent.run(ctx, "Write REPORT.md from notes.md, and publish it."); err != nil {
		return err
	}
	t.head("what is left in the workspace")
	for _, name := range []string{"drafts/outline.md", "REPORT.md", "published.md"} {
		state := "not there"
		if box.has(name) {
			state = "there"
		}
		t.line("%s: %s", name, state)
	}
	return t.err
}

// makeWorkspace fills a new temporary folder.
func makeWorkspace() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "quickstart-"); err != nil {
		return "", err
	}
	files, _ := fs.Sub(embedded, "workspace")
	if err = os.CopyFS(dir, files); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
