package acp

import (
	"bufio"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

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
			in, host := io.Pipe()
			asked, out := io.Pipe()
			conn := newConn(in, out)
			served := make(chan error, 1)
			go func() { served <- conn.serve(t.Context()) }()
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
			if err := host.Close(); err != nil {
				t.Error(err)
			}
			if err := <-served; err != nil {
				t.Error(err)
			}
			close(conn.out) // ends write
			synctest.Wait()
		})
	}
}
