package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"go.uber.org/goleak"

	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/ide/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// options are how to reach e with the right token.
func options(e *idetest.Editor) wire.Options {
	o := wire.Options{
		Address: net.JoinHostPort("127.0.0.1", strconv.Itoa(e.Port())),
		Header:  e.Dialect.Header, Token: e.Token(), Version: "9.9.9",
	}
	if e.Dialect.Auth == idetest.Proves {
		o.Secret, o.Token = o.Token, ""
	}
	return o
}

func dial(t *testing.T, o wire.Options) *wire.Conn {
	t.Helper()
	c, err := wire.Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestHandshake(t *testing.T) {
	for _, d := range []idetest.Dialect{idetest.Ours(), idetest.Neovim(), idetest.Emacs(), idetest.JetBrains(), idetest.Nexus3()} {
		t.Run(d.Server, func(t *testing.T) {
			e := idetest.Start(t, d)
			o := options(e)
			o.Hello = map[string]any{"pid": 1}
			c := dial(t, o)
			s := c.Server()
			if s.Name != d.Server || s.Version != "1.2.3" {
				t.Errorf("server: %+v", s)
			}
			if d.Protocol != "" && s.Protocol != d.Protocol {
				t.Errorf("protocol %q, want %q", s.Protocol, d.Protocol)
			}
			if _, ours := s.Experimental["agent/ide"]; ours != d.Ours {
				t.Errorf("announced our capability: %t", ours)
			}
			tools, err := c.Tools(t.Context())
			if diff := cmp.Diff(d.Listed, tools); err != nil || diff != "" {
				t.Errorf("tools: %v %s", err, diff)
			}
			e.WaitRequests("ide_connected", 1)
			h := e.Conns()[0].Header
			for name, want := range map[string]string{
				"Origin": "", "Sec-Websocket-Extensions": "", "Sec-Websocket-Protocol": "mcp", d.Header: e.Token(),
			} {
				if name != "" && h.Get(name) != want {
					t.Errorf("header %s is %q, want %q", name, h.Get(name), want)
				}
			}
		})
	}
}

// TestOrder holds the first messages to an editor: a server that ignores newer requests
// would hang us.
func TestOrder(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	o := options(e)
	o.Hello = map[string]any{"pid": 1}
	c := dial(t, o)
	if _, err := c.Tools(t.Context()); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, r := range e.Requests("") {
		order = append(order, r.Method)
	}
	want := []string{"initialize", "notifications/initialized", "ide_connected", "tools/list"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Error(diff)
	}
	if p := string(e.Requests("initialize")[0].Params); !strings.Contains(p, `"2025-06-18"`) {
		t.Errorf("asked for %s", p)
	}
}

func TestWrongToken(t *testing.T) {
	for _, d := range []idetest.Dialect{idetest.Neovim(), idetest.JetBrains(), idetest.Nexus3()} {
		for _, token := range []string{"", "wrong-token-wrong-token"} {
			t.Run(d.Name+"/"+token, func(t *testing.T) {
				e := idetest.Start(t, d)
				o := options(e)
				o.Token = token
				_, err := wire.Dial(t.Context(), o)
				if !errors.Is(err, wire.ErrAuth) {
					t.Errorf("error: %v", err)
				}
				if accepted, refused := e.Handshakes(); accepted != 0 || refused != 1 {
					t.Errorf("%d handshakes accepted, %d refused", accepted, refused)
				}
			})
		}
	}
}

func TestNoEditor(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the token followed a redirect: %v", r.Header)
	}))
	defer elsewhere.Close()
	for name, h := range map[string]http.HandlerFunc{
		"not found": http.NotFound,
		"a page":    func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") },
		"redirect":  func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
		"garbage": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			fmt.Fprint(conn, "SSH-2.0-OpenSSH\r\n")
			conn.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(h)
			defer s.Close()
			_, err := wire.Dial(t.Context(), wire.Options{Address: s.Listener.Addr().String(), Header: "x", Token: "secret-token"})
			if !errors.Is(err, wire.ErrNoEditor) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error: %v", err)
			}
		})
	}
}

// TestSilence: the handshake with a listener that stays silent is bounded.
func TestSilence(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // connections wait in its queue
	_, err = wire.Dial(t.Context(), wire.Options{Address: l.Addr().String(), Timing: wire.Timing{Dial: 50 * time.Millisecond}})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("mute port: %v", err)
	}
	e := idetest.Start(t, idetest.Ours())
	e.Handle("initialize", func(*idetest.Conn, json.RawMessage) idetest.Reply { return idetest.Reply{Silent: true} })
	o := options(e)
	o.Timing.Handshake = 100 * time.Millisecond
	if _, err = wire.Dial(t.Context(), o); !errors.Is(err, wire.ErrNoAnswer) {
		t.Errorf("mute editor: %v", err)
	}
	e.WaitConns(0)
	ctx, cancel := context.WithCancel(t.Context())
	o.Timing.Handshake = 0
	asked := len(e.Requests("initialize"))
	go func() {
		e.WaitRequests("initialize", asked+1)
		cancel()
	}()
	if _, err = wire.Dial(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

// TestGreetings holds that the handshake survives what editors write.
func TestGreetings(t *testing.T) {
	for _, result := range []string{
		`{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"a","version":"1"}}`,
		`{"protocolVersion":"2026-07-28","capabilities":{"tools":[]},"serverInfo":{"name":"a"}}`,
		`{"capabilities":[],"serverInfo":[]}`,
		`{}`,
	} {
		t.Run(result, func(t *testing.T) {
			e := idetest.Start(t, idetest.Ours())
			e.Handle("initialize", func(*idetest.Conn, json.RawMessage) idetest.Reply {
				return idetest.Reply{Result: json.RawMessage(result)}
			})
			c := dial(t, options(e))
			if _, err := c.Call(t.Context(), "getOpenEditors", struct{}{}); err != nil {
				t.Error(err)
			}
		})
	}
	for _, reply := range []idetest.Reply{{Result: "hello"}, {Result: nil}, idetest.Refusef(-32603, "no")} {
		e := idetest.Start(t, idetest.Ours())
		e.Handle("initialize", func(*idetest.Conn, json.RawMessage) idetest.Reply { return reply })
		if c, err := wire.Dial(t.Context(), options(e)); err == nil {
			c.Close()
			t.Errorf("%v was taken for a greeting", reply)
		}
		e.WaitConns(0)
	}
}

func TestCall(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	c := dial(t, options(e))
	for _, result := range []string{`{"content":[],"x":1}`, `{"code":-32602,"message":"m"}`, `[1]`, `"text"`, `null`} {
		e.Handle("t", func(*idetest.Conn, json.RawMessage) idetest.Reply {
			return idetest.Reply{Result: json.RawMessage(result)}
		})
		got, err := c.Call(t.Context(), "t", json.RawMessage(`{"a":"<&>"}`))
		if string(got) != result || err != nil {
			t.Errorf("result %s, %v, want %s", got, err, result)
		}
	}
	if p := string(e.Requests("t")[0].Params); p != `{"a":"<&>"}` {
		t.Errorf("arguments: %s", p)
	}
	e.Handle("t", func(*idetest.Conn, json.RawMessage) idetest.Reply {
		return idetest.Reply{Error: &idetest.Error{Code: -32000, Message: "m", Data: "d"}}
	})
	_, err := c.Call(t.Context(), "t", struct{}{})
	var refused *jsonrpc.Error
	if !errors.As(err, &refused) || refused.Code != -32000 || refused.Message != "m" || string(refused.Data) != `"d"` {
		t.Errorf("error: %#v", err)
	}
}

// TestCallsAtOnce holds that answers find their callers in any order.
func TestCallsAtOnce(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	c := dial(t, options(e))
	const n = 50
	var mu sync.Mutex
	var waiting []idetest.Request
	e.Handle("t", func(conn *idetest.Conn, args json.RawMessage) idetest.Reply { return idetest.Reply{Silent: true} })
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			got, err := c.Call(t.Context(), "t", map[string]int{"n": i})
			if want := fmt.Sprintf(`{"n":%d}`, i); string(got) != want || err != nil {
				t.Errorf("call %d: %s, %v", i, got, err)
			}
		})
	}
	mu.Lock()
	waiting = e.WaitRequests("t", n)
	mu.Unlock()
	for i := range waiting {
		r := waiting[len(waiting)-1-i]
		e.Conns()[0].Reply(r.ID, idetest.Reply{Result: r.Params})
	}
	wait.Wait()
}

// TestCancel holds that giving up leaves a usable session and that a late answer
// is void.
func TestCancel(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	e.Handle("slow", func(*idetest.Conn, json.RawMessage) idetest.Reply { return idetest.Reply{Silent: true} })
	c := dial(t, options(e))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		e.WaitRequests("slow", 1)
		cancel()
	}()
	if _, err := c.Call(ctx, "slow", struct{}{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
	cancelled := e.WaitRequests("notifications/cancelled", 1)
	id := e.Requests("slow")[0].ID
	if !strings.Contains(string(cancelled[0].Params), `"requestId":`+string(id)) {
		t.Errorf("cancelled: %s, the request was %s", cancelled[0].Params, id)
	}
	e.Conns()[0].Reply(id, idetest.Text("late"))
	if _, err := c.Call(t.Context(), "getOpenEditors", struct{}{}); err != nil {
		t.Error(err)
	}
}

// TestCloseCancels: pending requests are cancelled before the connection is closed.
func TestCloseCancels(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	e.Handle("slow", func(*idetest.Conn, json.RawMessage) idetest.Reply { return idetest.Reply{Silent: true} })
	c := dial(t, options(e))
	failed := make(chan error)
	go func() {
		_, err := c.Call(t.Context(), "slow", struct{}{})
		failed <- err
	}()
	e.WaitRequests("slow", 1)
	c.Close()
	if err := <-failed; !errors.Is(err, wire.ErrClosed) {
		t.Errorf("error: %v", err)
	}
	e.WaitRequests("notifications/cancelled", 1)
	e.WaitConns(0)
	if _, err := c.Call(t.Context(), "slow", struct{}{}); !errors.Is(err, wire.ErrClosed) {
		t.Errorf("after close: %v", err)
	}
	if !errors.Is(c.Err(), wire.ErrClosed) {
		t.Errorf("ended with %v", c.Err())
	}
}

func TestLoss(t *testing.T) {
	for name, lose := range map[string]func(e *idetest.Editor){
		"crash": func(e *idetest.Editor) { e.Stop() },
		"close": func(e *idetest.Editor) { e.Conns()[0].Close(websocket.StatusGoingAway, "bye") },
	} {
		t.Run(name, func(t *testing.T) {
			e := idetest.Start(t, idetest.Ours())
			e.Handle("slow", func(*idetest.Conn, json.RawMessage) idetest.Reply { return idetest.Reply{Silent: true} })
			c := dial(t, options(e))
			go func() {
				e.WaitRequests("slow", 1)
				lose(e)
			}()
			_, err := c.Call(t.Context(), "slow", struct{}{})
			<-c.Done()
			if err == nil || c.Err() == nil || errors.Is(c.Err(), wire.ErrClosed) {
				t.Errorf("call: %v; session: %v", err, c.Err())
			}
		})
	}
}

// TestKeepAlive holds that a connection whose other end is gone without a word
// is found out: the relay goes on accepting and delivers nothing.
func TestKeepAlive(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	relay := idetest.NewRelay(t, e.Port())
	o := options(e)
	o.Address = relay.Address
	e.ProveFor(relay.Address)
	o.Timing.Ping, o.Timing.Pong = 10*time.Millisecond, 2*time.Second
	c := dial(t, o)
	if err := c.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	relay.Stall()
	<-c.Done()
	if !errors.Is(c.Err(), wire.ErrNoAnswer) {
		t.Errorf("ended with %v", c.Err())
	}
}

func TestProbe(t *testing.T) {
	for _, d := range []idetest.Dialect{idetest.Ours(), idetest.Neovim()} { // the second answers with an error
		e := idetest.Start(t, d)
		if err := dial(t, options(e)).Probe(t.Context()); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
	e := idetest.Start(t, idetest.Emacs())
	first := dial(t, options(e))
	dial(t, options(e))
	e.Handle("ping", func(*idetest.Conn, json.RawMessage) idetest.Reply { return idetest.Reply{Silent: true} })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := first.Probe(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stolen: %v", err)
	}
}

// TestProxyIsIgnored holds that the token goes to the editor and nowhere else,
// whatever proxies the environment names.
func TestProxyIsIgnored(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the proxy was asked for %s", r.URL)
	}))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	e := idetest.Start(t, idetest.Neovim())
	o := options(e)
	// A name that proxies are used for, unlike loopback addresses.
	_, port, err := net.SplitHostPort(o.Address)
	if err != nil {
		t.Fatal(err)
	}
	dial(t, o)
	o.Address = net.JoinHostPort("editor.invalid", port)
	if _, err := wire.Dial(t.Context(), o); err == nil {
		t.Error("a host that does not exist was reached")
	}
}
