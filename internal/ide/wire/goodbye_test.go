package wire

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// TestADeafEditorDelaysNoExit: closing a connection waits no longer than goodbye for an
// editor that says nothing, whether it still reads or not.
func TestADeafEditorDelaysNoExit(t *testing.T) {
	for name, reads := range map[string]bool{"reads": true, "reads nothing": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				defer theirs.Close()
				go deafEditor(t, theirs, reads)
				s := newSocket(Options{})
				s.conn = ours
				ws, _, err := websocket.Dial(t.Context(), "ws://editor/", &websocket.DialOptions{HTTPClient: &http.Client{
					Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return ours, nil }},
				}})
				if err != nil {
					t.Fatal(err)
				}
				s.ws = ws
				s.helpers.Go(func() { s.leave(t.Context()) })
				began := time.Now()
				s.hangUp()
				s.helpers.Wait()
				if took := time.Since(began); took != goodbye {
					t.Errorf("it takes %s", took)
				}
			})
		})
	}
}

// deafEditor accepts a connection, then says nothing, and goes on reading if reads is set.
func deafEditor(t *testing.T, conn net.Conn, reads bool) {
	in := bufio.NewReader(conn)
	r, err := http.ReadRequest(in)
	if err != nil {
		t.Error(err)
		return
	}
	key := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) // as RFC 6455 says
	_, err = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		base64.StdEncoding.EncodeToString(key[:]))
	if err != nil {
		t.Error(err)
	}
	if reads {
		_, _ = io.Copy(io.Discard, in) // until the connection is closed
	}
}
