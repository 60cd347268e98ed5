package sshsandbox

import (
	"bufio"
	"context"
	"crypto/rand"
	_ "embed" // the scripts
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hookruntime/hooks"
)

// The scripts are commands of one bash each, in braces: bash reads a command to
// its end before it runs it, and not a byte further, so that what follows on
// stdin is theirs.
var (
	//go:embed remote/common.sh
	commonScript string
	//go:embed remote/hook.sh
	hookScript string
	//go:embed remote/leash.sh
	leashScript string
	//go:embed remote/put.sh
	putScript string
	//go:embed remote/remove.sh
	removeScript string
	//go:embed remote/find.sh
	findScript string
)

// bash is a bash on the other machine, or what took its place.
type bash struct {
	ssh.Channel
	mark   string
	out    *bufio.Reader
	ended  chan struct{} // closed when exit is known
	exit   hooks.Exit
	closed chan struct{} // closed when the server has nothing more to say
}

// bash starts a bash that runs a script. The command is the same for all of
// them, because it is read by a login shell of whatever kind; all else comes on
// stdin, and is read by bash. Options keep it from reading profiles, BASH_ENV
// and exported functions.
func (s *Sandbox) bash(script string, args ...string) (*bash, error) {
	ch, requests, err := s.client.OpenChannel("session", nil)
	if err != nil {
		return nil, fmt.Errorf("opening a session: %w", err)
	}
	b := &bash{
		Channel: ch, mark: rand.Text(), out: bufio.NewReader(ch),
		ended: make(chan struct{}), closed: make(chan struct{}),
	}
	go b.listen(requests)
	command := struct{ Command string }{"exec " + s.opts.Bash + " --noprofile --norc -p -s"}
	switch ok, err := ch.SendRequest("exec", true, ssh.Marshal(&command)); {
	case err != nil:
		return nil, errors.Join(b.lost(err), ch.Close())
	case !ok:
		return nil, errors.Join(errors.New("the server runs no commands"), ch.Close())
	}
	text := "set -- " + quoteAll(append([]string{b.mark}, args...)) + "\n{\n" + commonScript + script + "}\n"
	if _, err := io.WriteString(ch, text); err != nil {
		return nil, errors.Join(b.lost(err), ch.Close())
	}
	return b, nil
}

// lostSignal ends a process whose end nobody will ever tell.
const lostSignal = "connection lost"

// listen takes what the server tells about the process.
func (b *bash) listen(requests <-chan *ssh.Request) {
	b.exit = hooks.Exit{Code: -1, Signal: lostSignal}
	known := false
	for r := range requests {
		var status struct{ Code uint32 }
		var signal struct {
			Name string
			Core bool
			Text string
			Lang string
		}
		switch {
		case known:
		case r.Type == "exit-status" && ssh.Unmarshal(r.Payload, &status) == nil:
			b.exit, known = hooks.Exit{Code: int(status.Code)}, true
			close(b.ended)
		case r.Type == "exit-signal" && ssh.Unmarshal(r.Payload, &signal) == nil:
			b.exit, known = hooks.Exit{Code: -1, Signal: "SIG" + signal.Name}, true
			close(b.ended)
		}
		if r.WantReply {
			_ = r.Reply(false, nil)
		}
	}
	if !known {
		close(b.ended)
	}
	close(b.closed)
}

// word returns what the script says next, without what others print.
func (b *bash) word() (string, error) {
	for {
		line, err := b.out.ReadString('\n')
		if err != nil {
			return "", b.lost(err)
		}
		word, ours := strings.CutPrefix(strings.TrimSuffix(line, "\n"), b.mark+" ")
		if !ours {
			continue
		}
		if why, refused := strings.CutPrefix(word, "refused: "); refused {
			return "", errors.New(why)
		}
		return word, nil
	}
}

// lost makes an error of a channel that ended in mid-sentence.
func (b *bash) lost(err error) error {
	if errors.Is(err, io.EOF) {
		err = errors.New("the shell on the other machine ended, or the connection did")
	}
	return err
}

// until closes the channel when ctx is done, which is the end of the script's
// input, and of the calls that wait for its words. stop ends that.
func (b *bash) until(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = b.Close() })
}

// finish closes a bash and waits a moment for its end: until then the server
// counts its session.
func (b *bash) finish() {
	_ = b.CloseWrite()
	_ = b.Close()
	select {
	case <-b.closed:
	case <-time.After(settleTime):
	}
}

// quoteAll writes words for bash, in ASCII and on one line, so that neither
// locale nor line ends matter. A word must not contain NUL.
func quoteAll(words []string) string {
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("$'")
		for _, c := range []byte(word) {
			switch {
			case c == '\'' || c == '\\':
				b.WriteByte('\\')
				b.WriteByte(c)
			case ' ' <= c && c <= '~':
				b.WriteByte(c)
			default:
				fmt.Fprintf(&b, `\%03o`, c)
			}
		}
		b.WriteByte('\'')
	}
	return b.String()
}
