package wire_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/bypass"
	"github.com/bb2d0cf4/agent/internal/ide/wire"
)

// TestPublishedBypasses lets a stranger listen on an editor's port.
func TestPublishedBypasses(t *testing.T) {
	const secret = "a-secret-of-a-lock-file-that-is-long-enough"
	bypass.Try(t, "a program that listens on an editor's old port gets the token", "both sides prove that they know a secret that is never sent",
		func(t *testing.T) bool {
			return strings.Contains(heard(t, wire.Options{Header: "x-token", Token: secret}), secret)
		},
		func(t *testing.T) bool { return strings.Contains(heard(t, wire.Options{Secret: secret}), secret) })
}

// heard returns the headers that reach a program on the port of an editor that is gone.
func heard(t *testing.T, o wire.Options) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := make(chan string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			got <- ""
			return
		}
		defer c.Close()
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			got <- ""
			return
		}
		var all strings.Builder
		_ = r.Header.Write(&all) // a builder takes everything
		got <- all.String()
	}()
	o.Address, o.Version = l.Addr().String(), "test"
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if c, err := wire.Dial(ctx, o); err == nil {
		c.Close()
	}
	return <-got
}
