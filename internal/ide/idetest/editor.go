// Package idetest provides an editor for tests: a real WebSocket server on 127.0.0.1
// that speaks like one of the editors in use, or like a hostile one. It decides nothing
// before the test does. Only tests import it.
package idetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/bb2d0cf4/agent/internal/dev/fixedport"
)

// patience is the longest wait of a test.
const patience = 10 * time.Second

// Editor is a running editor. Its methods may be called concurrently.
type Editor struct {
	Dialect Dialect
	// PID is the process in the lock file, by default this one.
	PID int
	// Shown delivers every opened diff.
	Shown chan *Diff
	World *World

	tb testing.TB

	mu       sync.Mutex
	token    string
	server   *http.Server
	served   chan struct{} // closed when server no longer listens
	port     int
	reached  int    // port in proofs; 0: port
	socket   string // that gives the secret, or ""
	asked    int    // connections to it
	conns    map[*Conn]bool
	changed  chan struct{} // closed and replaced after every record
	requests []Request
	answers  []string
	received [][]byte // headers of the handshakes, and messages
	refused  int      // handshakes
	accepted int
	handlers map[string]Handler
	mcp      http.Handler     // at /mcp, or nil
	diffs    map[string]*Diff // open, by tab name
}

// Request is a message received from a client.
type Request struct {
	Method string // or the tool's name
	Tool   bool
	ID     json.RawMessage // nil: a notification
	Params json.RawMessage // or the tool's arguments
}

// Handler answers a tool call instead of the dialect.
type Handler func(c *Conn, args json.RawMessage) Reply

// Reply is an answer: a result, an error, or silence.
type Reply struct {
	Result any
	Error  *Error
	Silent bool
}

// Error is a JSON-RPC error.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// Start starts an editor that speaks d, and stops it after the test.
func Start(tb testing.TB, d Dialect) *Editor {
	tb.Helper()
	return startOn(tb, d, fixedport.Listen(tb))
}

// startAt is Start for a given port.
func startAt(tb testing.TB, d Dialect, port int) *Editor {
	tb.Helper()
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		tb.Fatal(err)
	}
	return startOn(tb, d, l)
}

func startOn(tb testing.TB, d Dialect, l net.Listener) *Editor {
	e := &Editor{
		Dialect: d, PID: os.Getpid(), Shown: make(chan *Diff, 1024), World: newWorld(), tb: tb,
		conns: map[*Conn]bool{}, changed: make(chan struct{}), handlers: map[string]Handler{}, diffs: map[string]*Diff{},
	}
	e.listenOn(l)
	tb.Cleanup(e.Stop)
	return e
}

// Listen listens on a fresh port with a fresh token, like an editor that was restarted.
func (e *Editor) Listen() {
	e.tb.Helper()
	e.listenOn(fixedport.Listen(e.tb))
}

func (e *Editor) listenOn(l net.Listener) {
	port := fixedport.Of(l)
	server := &http.Server{Handler: http.HandlerFunc(e.serve), ReadHeaderTimeout: patience}
	e.mu.Lock()
	served := make(chan struct{})
	e.port, e.server, e.served = port, server, served
	if e.Dialect.Auth != NoToken {
		e.token = fmt.Sprintf("token-of-port-%d-%d-and-more-of-it", port, time.Now().UnixNano())
	}
	e.mu.Unlock()
	go func() {
		defer close(served)
		_ = server.Serve(l) // ends in Stop
	}()
}

// Stop drops every connection and stops listening, like a crash.
func (e *Editor) Stop() {
	e.mu.Lock()
	server, served := e.server, e.served
	e.mu.Unlock()
	_ = server.Close()
	<-served // a port that Serve has not seen yet is free only then
	e.Drop()
}

// Drop cuts every connection without a goodbye.
func (e *Editor) Drop() {
	for _, c := range e.Conns() {
		_ = c.ws.CloseNow()
	}
	e.until("all connections are gone", func() bool { return len(e.conns) == 0 })
}

// Port returns the port listened on.
func (e *Editor) Port() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.port
}

// Know sets the token to that of another editor.
func (e *Editor) Know(token string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.token = token
}

// Token returns the current token or secret.
func (e *Editor) Token() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.token
}

// Handle replaces the answer to a tool.
func (e *Editor) Handle(tool string, h Handler) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.handlers[tool] = h
}

// Conns returns the open connections.
func (e *Editor) Conns() []*Conn {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make([]*Conn, 0, len(e.conns))
	for c := range e.conns {
		all = append(all, c)
	}
	return all
}

// Notify sends a notification to every connection.
func (e *Editor) Notify(method string, params any) {
	for _, c := range e.Conns() {
		c.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
	}
}

// Requests returns the requests with the given method or tool name, or all if it is
// empty.
func (e *Editor) Requests(method string) []Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.named(method)
}

func (e *Editor) named(method string) []Request {
	var some []Request
	for _, r := range e.requests {
		if method == "" || r.Method == method {
			some = append(some, r)
		}
	}
	return some
}

// WaitRequests waits for n requests with the given name and returns them.
func (e *Editor) WaitRequests(method string, n int) []Request {
	e.tb.Helper()
	e.until(fmt.Sprintf("%d requests %s", n, method), func() bool { return len(e.named(method)) >= n })
	return e.Requests(method)
}

// WaitAnswers waits for n answers to the editor's own requests and returns them: id and
// result, or the error's code.
func (e *Editor) WaitAnswers(n int) []string {
	e.tb.Helper()
	e.until(fmt.Sprintf("%d answers", n), func() bool { return len(e.answers) >= n })
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.answers...)
}

// WaitConns waits until there are n connections.
func (e *Editor) WaitConns(n int) {
	e.tb.Helper()
	e.until(fmt.Sprintf("%d connections", n), func() bool { return len(e.conns) == n })
}

// Handshakes returns the numbers of accepted and refused handshakes.
func (e *Editor) Handshakes() (accepted, refused int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.accepted, e.refused
}

// NextDiff waits for the next diff to be opened.
func (e *Editor) NextDiff() *Diff {
	e.tb.Helper()
	select {
	case d := <-e.Shown:
		return d
	case <-time.After(patience):
		e.tb.Fatal("no diff was opened")
		return nil
	}
}

// OpenDiffs returns the number of diffs on the screen.
func (e *Editor) OpenDiffs() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.diffs)
}

// WaitOpenDiffs waits until n diffs are on the screen.
func (e *Editor) WaitOpenDiffs(n int) {
	e.tb.Helper()
	e.until(fmt.Sprintf("%d open diffs", n), func() bool { return len(e.diffs) == n })
}

// until waits for a condition, which is evaluated under the lock.
func (e *Editor) until(what string, ok func() bool) {
	e.tb.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		e.mu.Lock()
		done, changed := ok(), e.changed
		e.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-deadline.C:
			e.tb.Errorf("the editor waited in vain for %s", what)
			return
		}
	}
}

// record changes the state under the lock and wakes waiting tests.
func (e *Editor) record(change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change()
	close(e.changed)
	e.changed = make(chan struct{})
}

// Lock returns the contents of the editor's lock file.
func (e *Editor) Lock(folders ...string) map[string]any {
	lock := map[string]any{
		"pid": e.PID, "workspaceFolders": folders, "ideName": e.Dialect.Name, "transport": "ws",
	}
	switch token := e.Token(); {
	case e.Dialect.Auth == Proves:
		e.provingLock(lock, token)
	case token != "":
		lock["authToken"] = token
	}
	return lock
}

// WriteLock writes the editor's lock file into dir, which it makes, and returns
// its path.
func (e *Editor) WriteLock(dir string, folders ...string) string {
	e.tb.Helper()
	data, err := json.Marshal(e.Lock(folders...))
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	path := filepath.Join(dir, strconv.Itoa(e.Port())+".lock")
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		e.tb.Fatal(err)
	}
	return path
}

// Forget drops the recorded messages: a test of very many would not fit into memory.
func (e *Editor) Forget() {
	e.record(func() { e.requests, e.answers, e.received = nil, nil, nil })
}

// Received reports whether a handshake or a message held text.
func (e *Editor) Received(text string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.received, func(b []byte) bool { return bytes.Contains(b, []byte(text)) })
}

// ServeMCP has h answer at /mcp, without a token.
func (e *Editor) ServeMCP(h http.Handler) { e.record(func() { e.mcp = h }) }

func (e *Editor) serve(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	mcp := e.mcp
	e.mu.Unlock()
	if mcp != nil && r.URL.Path == "/mcp" {
		mcp.ServeHTTP(w, r)
		return
	}
	e.record(func() { e.received = append(e.received, fmt.Append(nil, r.RequestURI, r.Header)) })
	if why := e.Dialect.refuses(r, e.Token()); why != 0 {
		e.record(func() { e.refused++ })
		http.Error(w, http.StatusText(why), why)
		return
	}
	h := e.challenge(w, r)
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mcp"}, InsecureSkipVerify: true})
	if err != nil {
		return
	}
	ws.SetReadLimit(64 << 20)
	if code := e.Dialect.hangsUp(r, e.Token()); code != 0 {
		e.record(func() { e.refused++ })
		_ = ws.Close(code, "unauthorized")
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	if e.Dialect.Auth == Proves && !e.proved(ctx, ws, h) {
		e.record(func() { e.refused++ })
		_ = ws.Close(4001, "unauthorized")
		return
	}
	c := &Conn{editor: e, ws: ws, Header: r.Header, ctx: ctx}
	var evicted []*Conn
	e.record(func() {
		e.accepted++
		c.number = e.accepted
		if e.Dialect.OneClient {
			for old := range e.conns {
				evicted = append(evicted, old)
			}
		}
		e.conns[c] = true
	})
	for _, old := range evicted {
		go func() { _ = old.ws.Close(websocket.StatusGoingAway, "another client connected") }()
	}
	c.run()
	e.record(func() { delete(e.conns, c) })
	e.forget(c)
}

// newest returns the connection opened last, or nil.
func (e *Editor) newest() *Conn {
	e.mu.Lock()
	defer e.mu.Unlock()
	var last *Conn
	for c := range e.conns {
		if last == nil || c.number > last.number {
			last = c
		}
	}
	return last
}

// forget closes the diffs of a closed connection.
func (e *Editor) forget(c *Conn) {
	if e.Dialect.Keeps {
		return
	}
	e.mu.Lock()
	var gone []*Diff
	for _, d := range e.diffs {
		if d.conn == c {
			gone = append(gone, d)
		}
	}
	e.mu.Unlock()
	for _, d := range gone {
		e.drop(d)
	}
}

// drop takes a diff off the screen.
func (e *Editor) drop(d *Diff) {
	e.record(func() {
		if e.diffs[d.Tab] == d {
			delete(e.diffs, d.Tab)
		}
		d.gone.Do(func() { close(d.Closed) })
	})
}

// errGone is the error of a write to a closed connection.
var errGone = errors.New("the connection is gone")
