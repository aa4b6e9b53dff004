// Package wire is one MCP session with an editor over a WebSocket. It guarantees
// that a call ends when its context or the connection does, that a message goes
// out as one uncompressed frame straight to the given address, that what an
// editor sends is bounded in size and in number waiting, that every request of
// the editor is answered, and that its notifications arrive in order.
package wire

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Why a session could not be opened or has ended; a caller branches on these.
var (
	// ErrAuth says that the editor refused the token.
	ErrAuth = errors.New("the editor refused the token")
	// ErrNoEditor says that what listens on the port is no editor.
	ErrNoEditor = errors.New("what listens there is no editor")
	// ErrClosed says that this side has closed the session.
	ErrClosed = errors.New("the connection to the editor is closed")
)

// Options are how to reach an editor. Zero durations stand for the defaults.
type Options struct {
	Address string // host:port
	Header  string // name of the header with the token
	Token   string // empty: no header is sent
	Version string // our own version, told to the editor

	// Notify is given every notification, in order, from the goroutine that
	// reads: it must not block.
	Notify func(method string, params json.RawMessage)

	Dial      time.Duration // for the connection, 2 s
	Handshake time.Duration // for initialize and tools/list, 10 s
	Write     time.Duration // for one message to leave, 10 s
	Ping      time.Duration // between pings, 30 s
	Pong      time.Duration // for a pong to come, 10 s
}

// Server is what the editor says about itself.
type Server struct {
	Name         string
	Version      string
	Protocol     string // as it answered, before anything is assumed
	Tools        []string
	Experimental map[string]json.RawMessage // capabilities
}

// Conn is an open session. Its methods may be called concurrently.
type Conn struct{}

// Dial opens a session.
func Dial(ctx context.Context, o Options) (*Conn, error) { return nil, ErrNoEditor }

// Server returns what the editor said about itself.
func (c *Conn) Server() Server { return Server{} }

// Call calls a tool and returns its result as it came. args must encode as a
// JSON object. An error of the editor is a *jsonrpc.Error.
func (c *Conn) Call(ctx context.Context, tool string, args any) (json.RawMessage, error) {
	return nil, ErrClosed
}

// Notify sends a notification.
func (c *Conn) Notify(ctx context.Context, method string, params any) error { return ErrClosed }

// Probe returns nil if the editor answers at all within ctx.
func (c *Conn) Probe(ctx context.Context) error { return ErrClosed }

// Done is closed when the session has ended; Err says why.
func (c *Conn) Done() <-chan struct{} { return nil }

// Err returns why the session has ended, nil while it has not.
func (c *Conn) Err() error { return nil }

// Close cancels what is pending, closes the session and waits for its
// goroutines, two seconds at most.
func (c *Conn) Close() { _ = c }
