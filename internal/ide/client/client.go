// Package client speaks with one connected editor in typed calls. It reads every form
// of answer known from editors in use, reports an approval or rejection only for a
// person's clear verdict (everything else is undecided), returns text exactly as the
// person left it, and checks an editor's values: paths are absolute, lines are 1-based,
// sizes are bounded.
package client

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"strings"
	"sync"
	"unicode"

	"github.com/bb2d0cf4/agent/internal/ide/lock"
	"github.com/bb2d0cf4/agent/internal/ide/wire"
	"github.com/bb2d0cf4/agent/internal/peer"
)

// Bounds of messages, in bytes. Emacs takes seconds for larger ones.
const (
	maxOurs  = 16 << 20
	maxOther = 5 << 20
	maxEmacs = 256 << 10
)

// Options configures Connect.
type Options struct {
	Version string // of this program
	Session string // the session's id, sent to the editor
	Dir     string // working directory, sent to the editor
	Events  Events
	Timing  wire.Timing
	// Check inspects a connection before anything is sent; nil means [peer.Check].
	Check func(net.Conn) error
}

// check returns Check without the errors that the person accepted by choosing the
// editor.
func (o Options) check(from lock.Candidate) func(net.Conn) error {
	look := o.Check
	if look == nil {
		look = peer.Check
	}
	return func(conn net.Conn) error {
		if err := look(conn); !from.Tolerates(err) {
			return err
		}
		return nil
	}
}

// Info describes a connected editor. Its strings must be sanitized before they are
// shown.
type Info struct {
	Name    string // of the editor
	Plugin  string // the editor's plugin that answers
	Version string // of the plugin
	// Ours reports whether the plugin speaks our whole protocol (details of a verdict,
	// drafts, status), as our own extension does.
	Ours bool
	// Reviews reports whether it can show diffs; otherwise it only reports its open
	// files.
	Reviews bool
	Tools   []string // listed; others may answer too
	// MaxMessage is the limit of a message, in bytes.
	MaxMessage int
}

// Client is a connection to one editor. Its methods and those of its parts may be
// called concurrently.
type Client struct {
	Diffs     *Diffs
	Documents *Documents

	conn    *wire.Conn
	from    lock.Candidate
	options Options
	runs    *runs
	emacs   bool
	neovim  bool

	mu   sync.Mutex
	info Info
}

// Connect connects to the editor of a lock file. ctx bounds only the opening. The error
// wraps [wire.ErrAuth] if the editor refused the token or the proof, [wire.ErrImpostor]
// if it proved nothing itself, and the error of [peer.Check] if it belongs to another
// user.
func Connect(ctx context.Context, from lock.Candidate, o Options) (*Client, error) {
	c := &Client{from: from, options: o, runs: &runs{}}
	c.Diffs = &Diffs{c}
	c.Documents = &Documents{c}
	listener := &listener{events: o.Events, folders: from.File.Folders, oneBased: isEmacs(from.File.Name), runs: c.runs}
	to := wire.Options{
		Address: from.Address(), Check: o.check(from), Version: o.Version, Hello: hello(o, o.Session),
		Notify: listener.take, Timing: o.Timing,
	}
	if from.Dialect == lock.Agent {
		secret, err := from.File.ReadSecret(ctx)
		if err != nil {
			return nil, err
		}
		if to.Secret = secret; secret == "" {
			return nil, wire.ErrImpostor
		}
	} else {
		to.Header, to.Token = from.Dialect.Header, from.File.Token
	}
	conn, err := wire.Dial(ctx, to)
	if err != nil {
		return nil, err
	}
	c.conn = conn
	c.describe()
	if err := c.Refresh(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

// hello returns the parameters that identify this program and its session.
func hello(o Options, session string) map[string]any {
	return map[string]any{"pid": os.Getpid(), "cwd": o.Dir, "version": o.Version, "sessionId": session}
}

// Hello tells the editor the current session.
func (c *Client) Hello(ctx context.Context, session string) error {
	return c.conn.Notify(ctx, "ide_connected", hello(c.options, session))
}

// describe fills in Info from the handshake.
func (c *Client) describe() {
	s := c.conn.Server()
	c.emacs = isEmacs(c.from.File.Name) || s.Name == "claude-code-ide-mcp"
	c.neovim = s.Name == "claudecode-neovim" || strings.EqualFold(c.from.File.Name, "neovim")
	c.info = Info{Name: c.from.File.Name, Plugin: s.Name, Version: s.Version, MaxMessage: maxOther}
	if c.info.Name == "" {
		c.info.Name = "editor"
	}
	if c.emacs {
		c.info.MaxMessage = maxEmacs
	}
	capability, ok := s.Experimental["agent/ide"]
	if !ok {
		return
	}
	c.info.Ours, c.info.MaxMessage = true, maxOurs
	var announced struct {
		MaxPayload int `json:"maxPayload"`
	}
	if json.Unmarshal(capability, &announced) == nil && announced.MaxPayload > 0 {
		c.info.MaxMessage = min(announced.MaxPayload, maxOurs)
	}
}

// Single reports whether the editor answers only the client that connected last.
func (c *Client) Single() bool { return c.emacs }

func isEmacs(name string) bool { return strings.EqualFold(name, "emacs") }

// Refresh asks for the list of tools again. Only a lost connection is an error: without
// a list, a call shows whether a tool exists.
func (c *Client) Refresh(ctx context.Context) error {
	tools, err := c.conn.Tools(ctx)
	if why := c.conn.Err(); why != nil {
		return why
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.info.Tools = tools
	c.info.Reviews = err != nil || len(tools) == 0
	for _, t := range tools {
		c.info.Reviews = c.info.Reviews || plain(t) == plain("openDiff")
	}
	return nil
}

// Info returns the description of the editor.
func (c *Client) Info() Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.info
}

// SetStatus shows a state in the editor's status bar: "idle", "working" or "waiting".
// It returns ErrUnsupported if the editor has none.
func (c *Client) SetStatus(ctx context.Context, state, text, tooltip string) error {
	if !c.Info().Ours {
		return ErrUnsupported
	}
	_, err := c.call(ctx, "setStatus", map[string]string{"state": state, "text": text, "tooltip": tooltip})
	return err
}

// Probe returns nil if the editor answers at all before ctx ends: an open socket may
// have no one behind it.
func (c *Client) Probe(ctx context.Context) error { return c.conn.Probe(ctx) }

// Done is closed when the connection has ended; Err then returns the reason.
func (c *Client) Done() <-chan struct{} { return c.conn.Done() }

// Err returns why the connection has ended, or nil if it has not.
func (c *Client) Err() error { return c.conn.Err() }

// Close cancels pending calls and closes the connection.
func (c *Client) Close() { c.conn.Close() }

// The characters by which editors distinguish a diff's tab from a file.
const (
	tabBegins = "✻"
	tabEnds   = "⧉"
)

// maxTab bounds the path in a tab's name, in characters.
const maxTab = 120

// TabName returns a name for a diff that no editor mistakes for a file of the user's.
// rel is the file's display path, unique a few characters that no other open diff has.
func (c *Client) TabName(rel, unique string) string {
	label := "[agent]"
	if c.from.Dialect == lock.Claude {
		label = "[Claude Code]" // editors of this family look for it
	}
	shown := []rune(strings.Map(printable, rel))
	if over := len(shown) - maxTab; over > 0 {
		shown = append([]rune("…"), shown[over:]...)
	}
	return strings.Join([]string{tabBegins, label, string(shown), "(" + unique + ")", tabEnds}, " ")
}

// printable replaces characters that could make a tab look like another tab.
func printable(r rune) rune {
	if !unicode.IsPrint(r) || strings.ContainsRune(tabBegins+tabEnds, r) {
		return '·'
	}
	return r
}

func isTab(name string) bool {
	return strings.Contains(name, tabBegins) && strings.Contains(name, tabEnds)
}
