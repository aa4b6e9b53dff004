// Package acp serves hosts of the Agent Client Protocol: editors and other programs that
// start the agent and talk to it over standard input and output. It guarantees that
// standard output has messages of the protocol and nothing else, that a question which the
// host does not answer with one of its options means no, and that everything that it
// began has ended when Serve returns, at the end of the host at the latest.
package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/jsonrpc"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// Options configures Serve.
type Options struct {
	Version string
	Home    string // the agent's own folder
	// Setup loads the configuration for a folder, "" for the current one, without asking: the
	// folder's settings and instructions count if the user trusts them.
	Setup func(ctx context.Context, dir string) (setup.Setup, error)
	// New builds a session.
	New func(app.Options) (*app.App, error)
	// Builtin has the slash commands of a terminal, for their names.
	Builtin []command.Command
}

// agent is our end of a connection.
type agent struct {
	opt  Options
	conn *jsonrpc.Conn

	mu       sync.Mutex // guards the rest
	sessions map[string]*served
	offered  clientCapabilities // of the host
}

// served is a session of the host.
type served struct {
	*hosted
	view *view

	mu     sync.Mutex         // guards the rest
	cancel context.CancelFunc // ends the prompt that runs; nil without one
	ended  chan struct{}      // closed at the end of the last prompt that began
	closed bool               // no prompt begins any more
}

// Serve serves one host until it closes its end or ctx ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer, opt Options) error {
	a := &agent{opt: opt, conn: jsonrpc.New(in, out, jsonrpc.Lines{}), sessions: map[string]*served{}}
	a.conn.Handle, a.conn.Notified = a.handle, a.notified
	defer a.conn.Close()
	return errors.Join(a.conn.Serve(ctx), a.closeAll())
}

// closeAll ends all sessions at the same time: each may wait for its commands.
func (a *agent) closeAll() error {
	var work crash.Group
	errs := make(chan error, len(a.sessions))
	for _, s := range a.sessions {
		work.Go(func() { errs <- s.Close() })
	}
	work.Wait()
	close(errs)
	var all error
	for err := range errs {
		all = errors.Join(all, err)
	}
	return all
}

// handle begins a request. A prompt takes its session at once, so that a cancel behind it
// finds it.
func (a *agent) handle(ctx context.Context, method string, params json.RawMessage) func() (any, error) {
	switch method {
	case "initialize":
		return with(params, func(p initializeParams) (any, error) { return a.initialize(ctx, p), nil })
	case "authenticate":
		return with(params, func(p authenticateParams) (any, error) { return a.authenticate(ctx, p) })
	case "session/new":
		return with(params, func(p sessionParams) (any, error) { return a.create(ctx, p) })
	case "session/load":
		return with(params, func(p sessionParams) (any, error) { return a.load(ctx, p, true) })
	case "session/resume":
		return with(params, func(p sessionParams) (any, error) { return a.load(ctx, p, false) })
	case "session/list":
		return with(params, a.list)
	case "session/prompt":
		return a.prompt(ctx, params)
	case "session/set_mode":
		return with(params, a.setMode)
	case "session/set_config_option":
		return with(params, func(p optionParams) (any, error) { return a.setOption(ctx, p) })
	case "session/delete":
		return with(params, a.delete)
	case "session/close":
		return with(params, a.close)
	}
	return failing(jsonrpc.NewError(jsonrpc.UnknownMethod, "unknown method "+method))
}

// with decodes the parameters of a request for its handler.
func with[P any](params json.RawMessage, f func(P) (any, error)) func() (any, error) {
	p, err := decode[P](params)
	if err != nil {
		return failing(err)
	}
	return func() (any, error) { return f(p) }
}

func decode[P any](params json.RawMessage) (p P, err error) {
	if err := jsonrpc.Unmarshal(params, &p); err != nil {
		return p, jsonrpc.NewError(jsonrpc.InvalidParams, "invalid parameters: "+err.Error())
	}
	return p, nil
}

func failing(err error) func() (any, error) {
	return func() (any, error) { return nil, err }
}

func (a *agent) initialize(ctx context.Context, p initializeParams) initializeResult {
	a.mu.Lock()
	a.offered = p.ClientCapabilities
	a.mu.Unlock()
	return initializeResult{
		ProtocolVersion: protocol,
		AgentCapabilities: capabilities{
			LoadSession: true, PromptCapabilities: promptCapabilities{Image: a.takesImages(ctx), EmbeddedContext: true},
			MCPCapabilities:     mcpCapabilities{HTTP: true},
			SessionCapabilities: map[string]struct{}{"list": {}, "close": {}, "delete": {}, "resume": {}, "additionalDirectories": {}},
		},
		AgentInfo: info{"agent", a.opt.Version}, AuthMethods: authMethods(p.ClientCapabilities),
	}
}

// create opens a new session.
func (a *agent) create(ctx context.Context, p sessionParams) (any, error) {
	p.SessionID = ""
	s, err := a.open(ctx, p)
	if err != nil {
		return nil, err
	}
	res := s.opened()
	res.SessionID = s.id
	return a.introduced(ctx, s, res), nil
}

// load opens a saved session, and sends its conversation if it is to be shown.
func (a *agent) load(ctx context.Context, p sessionParams, shown bool) (any, error) {
	if p.SessionID == "" {
		return nil, jsonrpc.NewError(jsonrpc.InvalidParams, "sessionId is missing")
	}
	if _, err := a.find(p.SessionID); err == nil {
		return nil, jsonrpc.NewError(jsonrpc.InvalidParams, "the session "+p.SessionID+" is open already")
	}
	s, err := a.open(ctx, p)
	if err != nil {
		return nil, err
	}
	if shown {
		s.view.known()
		s.view.replay(s.Items())
	}
	return a.introduced(ctx, s, s.opened()), nil
}

// introduced returns a result after which the host knows the session, and is told about
// the commands and the models.
func (a *agent) introduced(ctx context.Context, s *served, res sessionResult) jsonrpc.Reply {
	return jsonrpc.Reply{Result: res, Sent: func() {
		s.view.known()
		s.view.offer()
		a.conn.Go(func() { s.learn(ctx) })
	}}
}

// opened describes the session to the host.
func (s *hosted) opened() sessionResult {
	return sessionResult{Modes: s.modes(), ConfigOptions: s.options()}
}

func (a *agent) open(ctx context.Context, p sessionParams) (*served, error) {
	if !filepath.IsAbs(p.Cwd) {
		return nil, jsonrpc.NewError(jsonrpc.InvalidParams, "cwd must be an absolute path")
	}
	if slices.ContainsFunc(p.AddDirs, func(dir string) bool { return !filepath.IsAbs(dir) }) {
		return nil, jsonrpc.NewError(jsonrpc.InvalidParams, "additionalDirectories must be absolute paths")
	}
	servers, err := serversOf(p.MCPServers)
	if err != nil {
		return nil, jsonrpc.NewError(jsonrpc.InvalidParams, err.Error())
	}
	held := &files{ctx: ctx, conn: a.conn}
	var shown atomic.Pointer[view]
	offered := a.capabilities()
	ctx = context.WithoutCancel(ctx)
	opened, err := a.prepare(ctx, p, app.Options{Servers: servers, Host: held.host(offered), Commands: func(here tools.Commands, secrets []string) tools.Commands {
		if !offered.Terminal {
			return here
		}
		return terminals{here, held, shown.Load, secrets}
	}})
	if err != nil {
		return nil, err
	}
	held.session = opened.id
	s := &served{hosted: opened, view: newView(a.conn, opened)}
	s.view.forms = offered.Elicitation.Form != nil
	shown.Store(s.view)
	opened.begin(ctx, app.Face{Emit: s.view.emit, Reviewer: s.view, Offered: s.view.offer})
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions[s.id] = s
	return s, nil
}

func (a *agent) capabilities() clientCapabilities {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.offered
}

func (a *agent) find(id string) (*served, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[id]; s != nil {
		return s, nil
	}
	return nil, jsonrpc.NewError(jsonrpc.InvalidParams, fmt.Sprintf("no session %q is open", id))
}

func (a *agent) list(p listParams) (any, error) {
	infos, err := archive.New(a.opt.Home).List(p.Cwd)
	if err != nil {
		return nil, err
	}
	out := listResult{Sessions: []listed{}}
	for _, i := range infos {
		out.Sessions = append(out.Sessions, listed{SessionID: i.ID, Cwd: i.Dir, Title: i.Title, UpdatedAt: i.Updated.UTC().Format(time.RFC3339)})
	}
	return out, nil
}

// prompt begins to answer a prompt.
func (a *agent) prompt(ctx context.Context, params json.RawMessage) func() (any, error) {
	p, err := decode[promptParams](params)
	if err != nil {
		return failing(err)
	}
	s, err := a.find(p.SessionID)
	if err != nil {
		return failing(err)
	}
	text, err := s.promptText(p.Prompt)
	if err != nil {
		return failing(jsonrpc.NewError(jsonrpc.InvalidParams, err.Error()))
	}
	ctx, cancel := context.WithCancel(ctx)
	if err := s.begin(cancel); err != nil {
		cancel()
		return failing(err)
	}
	return func() (any, error) {
		defer cancel()
		defer s.end()
		return s.answer(ctx, text)
	}
}

// answer answers a prompt. A cancelled one is no error.
func (s *served) answer(ctx context.Context, text string) (any, error) {
	s.view.begun()
	err := s.carryOut(ctx, text, func(output string) {
		s.view.say("agent_message_chunk", fence("", sanitize.Text(output))+"\n\n")
	})
	var limit *session.LimitError
	switch stop := s.view.stopped(); {
	case errors.Is(err, context.Canceled) || stop == session.StopCancelled:
		return promptResult{"cancelled"}, nil
	case stop == session.StopLimit && errors.As(err, &limit) && limit.IsOfTokens():
		return promptResult{"max_tokens"}, nil
	case stop == session.StopLimit:
		return promptResult{"max_turn_requests"}, nil
	case stop == session.StopDenied || err == nil:
		return promptResult{"end_turn"}, nil
	}
	return nil, err
}

// begin notes the prompt that runs. Only one may.
func (s *served) begin(cancel context.CancelFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return jsonrpc.NewError(jsonrpc.InvalidRequest, "the session is closed")
	case s.cancel != nil:
		return jsonrpc.NewError(jsonrpc.InvalidRequest, "the session is still answering another prompt")
	}
	s.cancel, s.ended = cancel, make(chan struct{})
	return nil
}

func (s *served) end() {
	s.mu.Lock()
	s.cancel = nil
	close(s.ended)
	s.mu.Unlock()
	s.view.changed()
}

// notified handles a notification of the host.
func (a *agent) notified(method string, params json.RawMessage) {
	var p onSession
	if method != "session/cancel" || jsonrpc.Unmarshal(params, &p) != nil {
		return // a notification is never answered
	}
	s, err := a.find(p.SessionID)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel()
	}
}

// close ends a session. It cancels the prompt that runs there, and waits for its end.
func (a *agent) close(p onSession) (any, error) {
	s, err := a.find(p.SessionID)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.closed = true
	ended := s.ended
	if s.cancel != nil {
		s.cancel()
	}
	s.mu.Unlock()
	if ended != nil {
		<-ended
	}
	a.mu.Lock()
	delete(a.sessions, p.SessionID)
	a.mu.Unlock()
	return struct{}{}, s.Close()
}
