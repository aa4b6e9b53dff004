package idetest

import (
	"net"
	"os"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/ide/proof"
)

// HideSecret has the editor give its secret on a Unix socket, which its lock file names,
// instead of writing it there, as our own extension does. It returns the socket.
func (e *Editor) HideSecret() (path string) {
	e.tb.Helper()
	dir, err := os.MkdirTemp("", "ide") // the path of a socket must be short
	if err != nil {
		e.tb.Fatal(err)
	}
	e.tb.Cleanup(func() { _ = os.RemoveAll(dir) }) // best effort
	path = filepath.Join(dir, "secret.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		e.tb.Fatal(err)
	}
	e.tb.Cleanup(func() { _ = l.Close() })
	e.record(func() { e.socket = path })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed after the test
			}
			e.record(func() { e.asked++ })
			_, _ = conn.Write([]byte(e.Token() + "\n")) // the client may be gone
			_ = conn.Close()
		}
	}()
	return path
}

// Asked returns how often the socket was asked for the secret.
func (e *Editor) Asked() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asked
}

// provingLock adds the secret that both sides prove to know, or the socket that gives it.
func (e *Editor) provingLock(lock map[string]any, secret string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	lock["v"], lock["secret"] = proof.Version, secret
	if e.socket != "" {
		delete(lock, "secret")
		lock["secretSocket"] = e.socket
	}
}
