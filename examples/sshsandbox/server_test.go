package sshsandbox

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
)

// server is an OpenSSH server of this test, on the loopback interface.
type server struct {
	addr string
	user string
	key  ssh.Signer
	host ssh.PublicKey
}

// startServer starts a server that lets in the user who runs the test. The
// environment of its sessions has what a hook must not see, and an SHLVL with
// which bash takes no session for a login: a .bashrc can take half a second.
func startServer(t *testing.T) *server {
	t.Helper()
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		// It lies where only root looks.
		if sshd, err = exec.LookPath("/usr/sbin/sshd"); err != nil {
			t.Skip("there is no OpenSSH server (Debian: apt-get install openssh-server)")
		}
	}
	if os.Geteuid() == 0 {
		// Where privileges are given up. The service makes it, if it runs.
		require.NoError(t, os.MkdirAll("/run/sshd", 0o755))
	}
	dir := t.TempDir()
	hostKey, clientKey := newKey(t), newKey(t)
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		return path
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := listener.Addr().(*net.TCPAddr)
	require.NoError(t, listener.Close())
	config := write("sshd_config", fmt.Appendf(nil, `
ListenAddress 127.0.0.1:%d
HostKey %s
AuthorizedKeysFile %s
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
SetEnv SHLVL=2 BASH_ENV=%s SECRET=of-the-server "BASH_FUNC_cat%%%%=() { echo planted; }"
`, addr.Port, write("host", hostKey.pem), write("authorized", clientKey.authorized), write("bash_env", []byte("echo planted\n"))))

	cmd := exec.Command(sshd, "-D", "-e", "-f", config)
	log, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var said bytes.Buffer
	listening, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		lines := bufio.NewScanner(log)
		for lines.Scan() {
			said.WriteString(lines.Text() + "\n")
			if strings.HasPrefix(lines.Text(), "Server listening on") {
				close(listening)
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-over
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	select {
	case <-listening:
	case <-over:
		t.Fatal("sshd did not start")
	case <-time.After(30 * time.Second):
		t.Fatal("sshd does not listen")
	}
	me, err := user.Current()
	require.NoError(t, err)
	return &server{addr.String(), me.Username, clientKey.signer, hostKey.signer.PublicKey()}
}

type key struct {
	signer          ssh.Signer
	pem, authorized []byte
}

func newKey(t *testing.T) key {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	require.NoError(t, err)
	signer, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	return key{signer, pem.EncodeToMemory(block), ssh.MarshalAuthorizedKey(signer.PublicKey())}
}

// dial connects to the server, by way of conn.
func (s *server) dial(t *testing.T, conn net.Conn) *ssh.Client {
	t.Helper()
	c, channels, requests, err := ssh.NewClientConn(conn, s.addr, &ssh.ClientConfig{
		User: s.user, Auth: []ssh.AuthMethod{ssh.PublicKeys(s.key)}, HostKeyCallback: ssh.FixedHostKey(s.host),
	})
	require.NoError(t, err)
	client := ssh.NewClient(c, channels, requests)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func (s *server) connect(t *testing.T) *ssh.Client {
	t.Helper()
	conn, err := net.Dial("tcp", s.addr)
	require.NoError(t, err)
	return s.dial(t, conn)
}
