// Package wire is one MCP session with an editor over a WebSocket. It guarantees
// that nothing is sent to a program that is not known to be this user's, that an
// editor with a secret has proved that it knows it before it is told anything, that
// a call ends when its context or the connection does, that a message goes
// out as one uncompressed frame straight to the given address, that what an
// editor sends is bounded in size and in number waiting, that every request of
// the editor is answered, and that its notifications arrive in order.
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

// Why a session could not be opened or has ended; a caller branches on these.
var (
	// ErrAuth means that the editor refused the token, or the proof of the secret.
	ErrAuth = errors.New("the editor refused the token")
	// ErrImpostor means that what listens did not prove that it knows the secret.
	ErrImpostor = errors.New("what listens there did not prove that it wrote the lock file, so nothing was sent to it")
	// ErrNoEditor says that what listens on the port is no editor.
	ErrNoEditor = errors.New("what listens there is no editor")
	// ErrClosed says that this side has closed the session.
	ErrClosed = errors.New("the connection to the editor is closed")
	// ErrNoAnswer says that the editor's side is gone without a word.
	ErrNoAnswer = errors.New("the editor does not answer any more")
)

// pinned is the version of the protocol that is asked for. A newer one begins
// with a request that editors may ignore, and the session would hang.
const pinned = "2025-06-18"

// Options are how to reach an editor. Zero durations stand for the defaults.
type Options struct {
	Address string // host:port
	// Secret is proved by both sides and never sent; empty for an editor that knows
	// no proofs.
	Secret string
	Header string // without a secret: name of the header with the token
	Token  string // empty: no header is sent
	// Check looks at the connection before anything is sent; nil stands for
	// [peer.Check].
	Check   func(net.Conn) error
	Version string // our own version, told to the editor
	// Hello are the parameters of the notification "ide_connected".
	Hello any

	// Notify is given every notification, in order, from the goroutine that
	// reads: it must not block. It may be called before Dial returns.
	Notify func(method string, params json.RawMessage)

	Timing Timing
}

// Timing holds the deadlines; a zero field stands for the default.
type Timing struct {
	Dial      time.Duration // for the connection: 2 s
	Handshake time.Duration // for everything until Dial returns: 10 s
	Write     time.Duration // for one message to leave: 10 s
	Ping      time.Duration // between pings: 30 s
	Pong      time.Duration // for a pong to come: 10 s
}

// listing is how long the list of tools may take; without it the session works,
// tools are then found out by calling them.
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

// Server is what the editor says about itself.
type Server struct {
	Name         string
	Version      string
	Protocol     string                     // the version that it answered with
	Experimental map[string]json.RawMessage // capabilities beyond the standard
}

// Conn is an open session. Its methods may be called concurrently.
type Conn struct {
	socket  *socket
	session *mcp.ClientSession
	closing sync.Once
}

// Dial opens a session. ctx bounds the opening alone.
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

// Server returns what the editor said about itself.
func (c *Conn) Server() Server { return c.socket.calls.server }

// Tools asks which tools there are. The list of an editor may be incomplete and
// in any order.
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

// Call calls a tool and returns its result as it came. args must encode as a
// JSON object. An error of the editor is a *jsonrpc.Error. When ctx ends the
// editor is told that nobody waits any more, and what it answers later is void.
func (c *Conn) Call(ctx context.Context, tool string, args any) (json.RawMessage, error) {
	return c.request(ctx, func(ctx context.Context) error {
		_, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
		return err
	})
}

// request lets send make a request and returns its result as it came.
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

// Probe returns nil if the editor answers at all before ctx ends, be it with an
// error.
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

// explain says why a request ended without a result: because its caller gave
// up, because the connection ended, or in the editor's own words.
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

// Done is closed when the session has ended; Err says why.
func (c *Conn) Done() <-chan struct{} { return c.socket.done }

// Err returns why the session has ended, nil while it has not.
func (c *Conn) Err() error {
	select {
	case <-c.socket.done:
		return c.socket.err
	default:
		return nil
	}
}

// Close cancels what is pending, tells the editor, closes the session and waits
// for its goroutines: about two seconds at most.
func (c *Conn) Close() {
	c.closing.Do(func() {
		c.socket.hangUp()
		// What an error here would say is in Err already.
		_ = c.session.Close()
		c.socket.helpers.Wait()
	})
}
