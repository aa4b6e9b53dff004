package lock

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// serveSecret gives text to everybody who connects to a socket; hang leaves the connections open.
func serveSecret(t *testing.T, text string, hang bool) (path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "lock") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path = filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	over, done := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); close(over); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte(text))
			if hang {
				<-over
			}
			_ = conn.Close()
		}
	}()
	return path
}

// The secret of a lock that names a socket is the line that the socket gives.
func TestSecretOfASocket(t *testing.T) {
	for text, whole := range map[string]bool{
		secret + "\n": true, secret: false, secret[:31] + "\n": false, "": false, secret + "\n\n": false,
		secret + " \n": false, strings.Repeat("x", maxSecret) + "\n": true, strings.Repeat("x", maxSecret+1) + "\n": false,
	} {
		f := File{Ours: Ours{SecretSocket: serveSecret(t, text, false), Secret: "that of the file"}}
		got, err := f.ReadSecret(t.Context())
		if (err == nil) != whole || whole && got+"\n" != text {
			t.Errorf("%q gives %q, %v", text, got, err)
		}
	}
	f := File{Ours: Ours{SecretSocket: filepath.Join(t.TempDir(), "missing")}}
	if got, err := f.ReadSecret(t.Context()); err == nil || !strings.Contains(err.Error(), "the editor's secret could not be read") {
		t.Errorf("without a socket: %q, %v", got, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	time.AfterFunc(10*time.Millisecond, func() { cancel(stopped) })
	f.SecretSocket = serveSecret(t, secret, true)
	if _, err := f.ReadSecret(ctx); !errors.Is(err, stopped) {
		t.Errorf("of a socket that hangs: %v", err)
	}
}

// A lock needs a secret, or a socket that gives it.
func TestSecretOrSocket(t *testing.T) {
	for name, c := range map[string]struct {
		of   Ours
		want string
	}{
		"socket":          {Ours{Protocol: 1, SecretSocket: scratch.Abs("/s")}, ""},
		"secret":          {Ours{Protocol: 1, Secret: secret}, ""},
		"relative socket": {Ours{Protocol: 1, SecretSocket: "s"}, "not an absolute path"},
		"neither":         {Ours{Protocol: 1}, "no secret"},
		"another version": {Ours{Protocol: 2, SecretSocket: scratch.Abs("/s")}, "run agent ide install"},
	} {
		if got := (File{Ours: c.of}).unspoken(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
