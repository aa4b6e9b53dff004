package remote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

// slow is a connection whose reads end where size says: it gets the bytes read so far,
// of which body are after the head of the answer, and is zero before that.
type slow struct {
	net.Conn
	size func(body int) int
	head []byte
	body int
	rest []byte // read, but not delivered
}

// Read implements net.Conn.
func (s *slow) Read(b []byte) (int, error) {
	if len(s.rest) == 0 {
		buf := make([]byte, 64<<10)
		n, err := s.Conn.Read(buf)
		if n == 0 {
			return 0, err
		}
		s.rest = buf[:n]
	}
	limit := min(len(b), len(s.rest))
	if !bytes.Contains(s.head, []byte("\r\n\r\n")) {
		limit = 1
		s.head = append(s.head, s.rest[0])
	} else {
		limit = min(limit, max(s.size(s.body), 1))
		s.body += limit
	}
	copy(b, s.rest[:limit])
	s.rest = s.rest[limit:]
	return limit, nil
}

// received returns the answer of a server over a loopback connection with these reads.
func received(t *testing.T, r recorded, url string, size func(body int) int) answer {
	t.Helper()
	transport := remote.NewTransport(nil)
	transport.DisableKeepAlives = true
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return &slow{Conn: conn, size: size}, err
	}
	return ask(t.Context(), client(wires[r.wire], url, transport), llm.Request{Messages: []llm.Message{llm.TextMessage(llm.User, "go")}})
}

// compare compares an answer with the one that the server means, and its Extra with
// that of the answer that came in one piece.
func (r recorded) compare(t *testing.T, how string, got answer, extra json.RawMessage) {
	t.Helper()
	want := r.want
	end := *want.end
	end.Extra = extra
	want.end = &end
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(answer{}), cmp.FilterPath(ownExtra, cmp.Ignore())); diff != "" {
		t.Fatalf("%s: %s", how, diff)
	}
}

// ownExtra is the part of a call that only its provider reads.
func ownExtra(p cmp.Path) bool {
	return p.Last().String() == ".Extra" && strings.Contains(p.GoString(), "Calls")
}

// kind classifies the byte at i of a stream.
func kind(s string, i int) string {
	if i < 0 || i >= len(s) {
		return "none"
	}
	switch c := s[i]; {
	case c >= utf8.RuneSelf && utf8.RuneStart(c):
		return "first of several"
	case c >= utf8.RuneSelf:
		return "within several"
	case c >= '0' && c <= '9':
		return "digit"
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		return "letter"
	default:
		return string(c)
	}
}

// class names the boundary before the byte at i: the bytes around it, and its place in
// an escape.
func class(s string, i int) string {
	escape := strings.LastIndexByte(s[max(i-6, 0):i], '\\')
	if escape >= 0 {
		escape = min(i, 6) - escape
	}
	return strings.Join([]string{kind(s, i-2), kind(s, i-1), kind(s, i), string(rune('a' + escape + 1))}, "|")
}

// TestRecordedAnswersHoweverSplit receives recorded answers over real connections, cut in
// two at each class of boundary, and in random pieces: text, reasoning, calls, finish and
// usage are the same.
func TestRecordedAnswersHoweverSplit(t *testing.T) {
	cuts, splits := 0, 0
	for name, r := range recordings {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(r)
			defer server.Close()
			whole := received(t, r, server.URL, func(int) int { return len(r.stream) })
			if whole.end == nil {
				t.Fatal(whole.err)
			}
			r.compare(t, "in one piece", whole, whole.end.Extra)
			seen := map[string]bool{}
			for at := 1; at < len(r.stream); at++ {
				if seen[class(r.stream, at)] {
					continue
				}
				seen[class(r.stream, at)] = true
				cuts++
				got := received(t, r, server.URL, func(body int) int {
					if body < at {
						return at - body
					}
					return len(r.stream)
				})
				r.compare(t, "cut after "+r.stream[max(at-20, 0):at], got, whole.end.Extra)
			}
			for seed := range uint64(30) {
				rnd := rand.New(rand.NewPCG(seed, 5))
				most := 1 + rnd.IntN(60)
				splits++
				r.compare(t, "in random pieces", received(t, r, server.URL, func(int) int { return 1 + rnd.IntN(most) }), whole.end.Extra)
			}
			r.compare(t, "byte by byte", received(t, r, server.URL, func(int) int { return 1 }), whole.end.Extra)
		})
	}
	t.Logf("%d answers, %d cuts, %d random splits", len(recordings), cuts, splits)
}
