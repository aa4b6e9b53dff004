// Package wire implements one MCP session with an editor over a WebSocket. It sends
// nothing before it knows that the other end belongs to this user, and, if the editor
// has a secret, has proved that. A call ends with its context or the connection. A
// message goes out as one uncompressed frame, straight to the given address. The size
// and the number of waiting messages of an editor are bounded, each of its requests is
// answered, and its notifications arrive in order.
package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Why a session could not be opened or has ended.
var (
	// ErrAuth means that the editor refused the token, or the proof of the secret.
	ErrAuth = errors.New("the editor refused the token")
	// ErrImpostor means that the listener did not prove that it knows the secret.
	ErrImpostor = errors.New("the program on that port did not prove that it wrote the lock file, so nothing was sent to it")
	// ErrNoEditor means that the listener is not an editor.
	ErrNoEditor = errors.New("the program on that port is not an editor")
	// ErrClosed means that this side has closed the session.
	ErrClosed = errors.New("the connection to the editor is closed")
	// ErrNoAnswer means that the editor has stopped answering.
	ErrNoAnswer = errors.New("the editor no longer answers")
)

// pinned is the requested version of the protocol. A newer one begins with a request
// that editors may ignore, so that the session would hang.
const pinned = "2025-06-18"

// Options configures Dial. A zero duration means the default.
type Options struct {
	Address string // host:port
	// Secret is never sent: both sides prove that they know it. It is empty for an editor
	// without proofs.
	Secret string
	Header string // of the token; used without a secret
	Token  string // empty: none is sent
	// Check inspects the connection before anything is sent; nil means [peer.Check].
	Check   func(net.Conn) error
	Version string // of this program, sent to the editor
	// Hello is sent as the parameters of the notification "ide_connected".
	Hello any

	// Notify receives every notification, in order, from the reading goroutine: it must
	// not block. It may be called before Dial returns.
	Notify func(method string, params json.RawMessage)

	Timing Timing
}

// Timing holds the deadlines; a zero field means the default.
type Timing struct {
	Dial      time.Duration // for the connection: 2 s
	Handshake time.Duration // for all of Dial: 10 s
	Write     time.Duration // for sending one message: 10 s
	Ping      time.Duration // between pings: 30 s
	Pong      time.Duration // for the answer to a ping: 10 s
}

// listing bounds the request for the list of tools. The session works without it: a
// call shows whether a tool exists.
const listing = 3 * time.Second

// maxPages bounds the list of tools; no editor in use has a second page.
const maxPages = 8

func (t Timing) withDefaults() Timing {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&t.Dial, 2 * time.Second},
		{&t.Handshake, 10 * time.Second},
		{&t.Write, 10 * time.Second},
		{&t.Ping, 30 * time.Second},
		{&t.Pong, 10 * time.Second},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	return t
}

// Server is the editor's description of itself.
type Server struct {
	Name         string
	Version      string
	Protocol     string                     // of the editor's answer
	Experimental map[string]json.RawMessage // capabilities beyond the standard
}

// Conn is an open session. Its methods may be called concurrently.
type Conn struct {
	socket  *socket
	session *mcp.ClientSession
	closing sync.Once
}

// Dial opens a session. ctx bounds only the opening.
func Dial(ctx context.Context, o Options) (*Conn, error) {
	o.Timing = o.Timing.withDefaults()
	opening, cancel := context.WithTimeout(ctx, o.Timing.Handshake)
	defer cancel()

	c := &Conn{socket: newSocket(o)}
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: o.Version}, &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	session, err := client.Connect(opening, c.socket, &mcp.ClientSessionOptions{ProtocolVersion: pinned})
	if err != nil {
		return nil, c.socket.whyNot(ctx, opening, err)
	}
	c.session = session
	c.socket.greeted.Store(true)
	if o.Hello != nil {
		if err := c.Notify(opening, "ide_connected", o.Hello); err != nil {
			c.Close()
			return nil, err
		}
	}
	return c, nil
}

// Server returns the editor's description of itself.
func (c *Conn) Server() Server { return c.socket.calls.server }

// Tools asks for the names of the tools. The list may be incomplete and in any order.
func (c *Conn) Tools(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, listing)
	defer cancel()
	var names []string
	var page struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
		Next string `json:"nextCursor"`
	}
	for range maxPages {
		raw, err := c.request(ctx, func(ctx context.Context) error {
			_, err := c.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: page.Next})
			return err
		})
		if err != nil {
			return names, err
		}
		page.Next = ""
		if err := json.Unmarshal(raw, &page); err != nil {
			return names, fmt.Errorf("the editor's list of tools cannot be read: %w", err)
		}
		for _, t := range page.Tools {
			names = append(names, t.Name)
		}
		if page.Next == "" {
			break
		}
	}
	return names, nil
}

// Call calls a tool and returns its raw result. args must encode as a JSON object. An
// error of the editor is a *jsonrpc.Error. When ctx ends, Call cancels the request, and
// a later answer is ignored.
func (c *Conn) Call(ctx context.Context, tool string, args any) (json.RawMessage, error) {
	return c.request(ctx, func(ctx context.Context) error {
		_, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
		return err
	})
}

// request makes a request with send and returns the raw result.
func (c *Conn) request(ctx context.Context, send func(context.Context) error) (json.RawMessage, error) {
	ctx, leave, err := c.socket.calls.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	raw := &result{}
	defer c.socket.calls.forget(raw)
	if err := send(context.WithValue(ctx, resultKey{}, raw)); err != nil {
		return nil, c.explain(ctx, err)
	}
	return raw.data, nil
}

// Notify sends a notification.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	data, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("encode %s: %w", method, err)
	}
	return c.socket.send(ctx, method, data)
}

// Probe returns nil if the editor answers at all before ctx ends, even with an error.
func (c *Conn) Probe(ctx context.Context) error {
	ctx, leave, err := c.socket.calls.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	err = c.session.Ping(ctx, nil)
	if ctx.Err() == nil && c.Err() == nil {
		return nil
	}
	return c.explain(ctx, err)
}

// explain returns why a request failed: its context ended, the connection ended, or the
// editor's own error.
func (c *Conn) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var refused *jsonrpc.Error
	if errors.As(err, &refused) {
		return refused
	}
	if why := c.Err(); why != nil {
		return why
	}
	return err
}

// Done is closed when the session has ended; Err then returns the reason.
func (c *Conn) Done() <-chan struct{} { return c.socket.done }

// Err returns why the session has ended, or nil if it has not.
func (c *Conn) Err() error {
	select {
	case <-c.socket.done:
		return c.socket.err
	default:
		return nil
	}
}

// Close cancels pending calls, says goodbye, closes the session and waits for its
// goroutines: less than two seconds.
func (c *Conn) Close() {
	c.closing.Do(func() {
		c.socket.hangUp()
		// Err already holds the reason.
		_ = c.session.Close()
		c.socket.helpers.Wait()
	})
}
