package acp

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/jsonrpc"
)

// serving returns a connection that is served in a bubble of synctest, with the host's ends of it. end ends it, and
// waits for that.
func serving(t *testing.T) (conn *jsonrpc.Conn, asked *io.PipeReader, host *io.PipeWriter, end func()) {
	t.Helper()
	in, host := io.Pipe()
	asked, out := io.Pipe()
	conn = jsonrpc.New(in, out, jsonrpc.Lines{})
	served := make(chan error, 1)
	go func() { served <- conn.Serve(t.Context()) }()
	return conn, asked, host, func() {
		t.Helper()
		if err := host.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
		conn.Close()
		synctest.Wait()
	}
}

// TestLateText: a host that is late may hold unsaved text, one that answers with an error knows of
// none.
func TestLateText(t *testing.T) {
	for _, c := range []struct {
		takes       time.Duration
		answer      string
		text, error string
		ok          bool
	}{
		{takes: 20 * time.Second, answer: `"result":{"content":"typed"}`, text: "typed", ok: true},
		{takes: time.Second, answer: `"error":{"code":-32002,"message":"not found"}`},
		{takes: time.Minute, answer: `"result":{"content":"typed"}`, error: "no answer within 30s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			conn, asked, host, end := serving(t)
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				lines := bufio.NewScanner(asked)
				lines.Scan()
				<-time.After(c.takes)
				if _, err := fmt.Fprintf(host, `{"jsonrpc":"2.0","id":1,%s}`+"\n", c.answer); err != nil {
					t.Error(err)
				}
			}()
			text, ok, err := (&files{ctx: t.Context(), conn: conn}).read("/a.txt")
			said := ""
			if err != nil {
				said = err.Error()
			}
			if text != c.text || ok != c.ok || said != c.error {
				t.Errorf("%q, %v, %v", text, ok, err)
			}
			<-answered
			end()
		})
	}
}

// TestSilentWrite: a host that has written the text and does not answer is waited for only as long as it may
// still change the file, one that has written another text to the end.
func TestSilentWrite(t *testing.T) {
	for wrote, want := range map[string]string{"new\n": "", "other\n": "no answer within 1m0s"} {
		path := filepath.Join(t.TempDir(), "a.txt")
		synctest.Test(t, func(t *testing.T) {
			conn, asked, _, end := serving(t)
			heard := make(chan struct{})
			go func() {
				defer close(heard)
				bufio.NewScanner(asked).Scan()
				scratch.Write(t, path, wrote)
			}()
			began, said := time.Now(), ""
			if err := (&files{ctx: t.Context(), conn: conn}).write(path, "new\n"); err != nil {
				said = err.Error()
			}
			if took := time.Since(began); said != want || (took < writeTime) != (want == "") {
				t.Errorf("%q: %q after %v", wrote, said, took)
			}
			<-heard
			end()
		})
	}
}
