package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/tlsfault"
)

// server is one server. The goroutine of run owns its link.
type server struct {
	Server
	opt     Options
	via     *http.Transport // to the address; nil for a program
	wants   chan want
	changed chan struct{} // the server's tools have changed; holds one at the most
	begun   chan struct{} // closed when the first attempt to connect has ended

	stale      chan struct{} // its resources or prompts have changed; holds one at the most
	listed     chan struct{} // closed when its resources and prompts were listed, or could not be
	listedOnce sync.Once

	strayed sync.Once // something came between its messages
	logged  sync.Once // the log of an address was made
	log     *log      // of an address; nil without one

	floor   *floor
	link    *link // or nil
	stopped bool  // by the user
	refused bool  // by the last Check

	rechecks  chan struct{} // holds one at the most
	due, done atomic.Int64  // how many were asked for, and of those how many are done

	mu  sync.Mutex // guards now
	now struct {
		state State
		why   string
		tools []Tool
		fixed []Tool // at the last settle

		offers  offers
		updates updates
	}
}

// want asks run for a session.
type want struct {
	anew bool // even if there is one
	list bool // list the tools of the present one again
	stop bool // end it for good

	check bool // whether it may be used
	got   chan session
}

var errStopped = errors.New("you have removed it")

// session is the answer to a want.
type session struct {
	link *link
	err  error
}

// link is a connection.
type link struct {
	session *sdk.ClientSession
	program *program // nil for an address
	ended   chan struct{}
	end     context.CancelFunc // of watch
	work    crash.Group
}

func newServer(opt Options, cfg Server) *server {
	if opt.Tell == nil {
		opt.Tell = func(string) {}
	}
	if opt.Offered == nil {
		opt.Offered = func() {}
	}
	opt.probe = cmp.Or(opt.probe, probeTime)
	s := &server{
		Server: cfg, opt: opt, wants: make(chan want), changed: make(chan struct{}, 1), begun: make(chan struct{}),
		stale: make(chan struct{}, 1), listed: make(chan struct{}), rechecks: make(chan struct{}, 1),
	}
	if cfg.URL != "" {
		s.via = newTransport(opt.Dialed)
	}
	s.resubscribe()
	s.floor = &floor{ask: opt.Ask}
	s.now.state = Starting
	return s
}

// run keeps the connection until ctx ends.
func (s *server) run(ctx context.Context) {
	defer func() {
		s.drop()
		s.logged.Do(func() {})
		if s.log != nil {
			_ = s.log.close() // nobody waits for the rest
		}
	}()
	if s.connect(ctx) != nil { // it has told the user
		s.listedOnce.Do(func() { close(s.listed) })
	}
	close(s.begun)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.lost():
			s.noteEnd()
		case <-s.rechecks:
			s.recheck(ctx)
		case w := <-s.wants:
			w.got <- s.answer(ctx, w)
		}
	}
}

// noteEnd leaves a connection that has ended, and tells the user.
func (s *server) noteEnd() {
	why := s.link.how()
	s.drop()
	s.publish(Failed, why, nil)
	s.opt.Tell(fmt.Sprintf("The MCP server %s has ended (%s); the next call starts it again.", s.Name, why))
}

// answer does w.
func (s *server) answer(ctx context.Context, w want) session {
	select {
	case <-s.lost():
		s.noteEnd()
	default:
	}
	switch {
	case w.list:
		s.refresh(ctx)
		return session{}
	case w.check:
		s.recheck(ctx)
		return session{}
	}
	if w.anew || w.stop {
		s.drop()
	}
	if s.stopped = s.stopped || w.stop; s.stopped {
		s.withdraw(errStopped)
		return session{err: errStopped}
	}
	if s.link == nil {
		if err := s.connect(ctx); err != nil {
			return session{err: err}
		}
	}
	return session{link: s.link}
}

func (s *server) lost() <-chan struct{} {
	if s.link == nil {
		return nil
	}
	return s.link.ended
}

// connect starts the program or dials the address, and lists the tools.
func (s *server) connect(ctx context.Context) error {
	s.publish(Starting, "", nil)
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	l, err := s.dial(ctx)
	if err == nil {
		s.link = l
		err = s.list(ctx)
	}
	if err != nil {
		s.drop()
		why := err.Error()
		if s.refused {
			s.withdraw(err)
		} else if s.URL == "" && !errors.As(err, new(startError)) {
			why += " (log: " + s.logFile() + ")"
		}
		s.publish(Failed, why, nil)
		s.opt.Tell(fmt.Sprintf("The MCP server %s could not be used: %s. /mcp shows more.", s.Name, why))
	}
	return err
}

// initializing is the newest version of the protocol that begins with initialize.
const initializing = "2025-11-25"

// dial connects. A program may end at a request before initialize, or never answer it: it is
// started again, in the older way. The first start must not use up the time, but may also be
// that of a package runner, which goes on with its download in the second.
func (s *server) dial(ctx context.Context) (*link, error) {
	if s.Check != nil {
		err := s.Check(ctx)
		if s.refused = err != nil; s.refused {
			return nil, err
		}
	}
	if s.URL != "" {
		return s.open(ctx, nil)
	}
	probe, cancel := context.WithTimeout(ctx, s.opt.probe)
	defer cancel()
	l, err := s.open(probe, nil)
	if err == nil || ctx.Err() != nil || errors.As(err, new(startError)) {
		return l, err
	}
	return s.open(ctx, &sdk.ClientSessionOptions{ProtocolVersion: initializing})
}

// open makes one attempt to connect.
func (s *server) open(ctx context.Context, opt *sdk.ClientSessionOptions) (*link, error) {
	client := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: s.opt.Version}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}}},

		ElicitationHandler:         s.elicit,
		ToolListChangedHandler:     func(context.Context, *sdk.ToolListChangedRequest) { signal(s.changed) },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { signal(s.stale) },
		PromptListChangedHandler:   func(context.Context, *sdk.PromptListChangedRequest) { signal(s.stale) },
		ResourceUpdatedHandler:     s.updated,
	})
	client.AddReceivingMiddleware(s.acknowledged)
	l := &link{ended: make(chan struct{}), end: func() {}}
	transport, err := s.transport(ctx, l)
	if err != nil {
		return nil, err
	}
	l.session, err = client.Connect(ctx, transport, opt)
	if err != nil {
		why := l.why()
		l.endProgram()
		if why != "" {
			return nil, errors.New("its program ended: " + why)
		}
		if fault, advice := tlsfault.Explain(err, time.Now()); fault != "" {
			return nil, errors.New("it " + fault + ". " + strings.TrimSuffix(advice, "."))
		}
		return nil, errors.New(bounded(err, maxWhy))
	}
	l.work.Go(func() {
		defer close(l.ended)
		_ = l.session.Wait() // why tells more
	})
	watching, end := context.WithCancel(context.WithoutCancel(ctx))
	l.end = end
	l.work.Go(func() { s.watch(watching, l) })
	return l, nil
}

// startError is the error of a program that could not be started.
type startError struct{ error }

// transport starts the program, or returns the way to the address.
func (s *server) transport(ctx context.Context, l *link) (sdk.Transport, error) {
	if s.URL != "" {
		t := &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: s.httpClient(nil), MaxEventSize: maxMessage}
		if s.hasKey() {
			return t, nil
		}
		kept, err := loadKeeper(context.WithoutCancel(ctx), s.via, s.opt.Logins, s.URL)
		t.HTTPClient, t.OAuthHandler = s.httpClient(kept), refusal(s.Name)
		return t, err
	}
	p, err := startProgram(s.Server, s.opt, s.logFile())
	if err != nil {
		return nil, startError{err}
	}
	l.program = p
	in := struct {
		*output
		io.Closer
	}{newOutput(p.stdout, func(line []byte) {
		s.stray(p.log, "prints text to its standard output that is not a message of the protocol", line)
	}), p.stdout}
	return &sdk.IOTransport{Reader: in, Writer: p.stdin, MaxLineLength: -1}, nil // output bounds it
}

// list reads the tools of the server.
func (s *server) list(ctx context.Context) error {
	caps := s.link.session.InitializeResult().Capabilities
	if caps == nil || caps.Tools == nil {
		s.publish(Ready, "", nil)
		return nil
	}
	var all []*sdk.Tool
	ask := &sdk.ListToolsParams{}
	for range maxPages {
		page, err := s.link.session.ListTools(ctx, ask)
		if err != nil {
			return errors.New("list its tools: " + bounded(err, maxWhy))
		}
		if all = append(all, page.Tools...); len(all) > maxTools {
			return fmt.Errorf("it offers more than %d tools", maxTools)
		}
		if ask.Cursor = page.NextCursor; ask.Cursor == "" {
			s.publish(Ready, "", describe(s.Server, all))
			return nil
		}
	}
	return fmt.Errorf("its list of tools has more than %d pages", maxPages)
}

// refresh reads the tools anew. If it fails, the server goes on with those it had.
func (s *server) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	if s.link == nil {
		return
	}
	if err := s.list(ctx); err != nil {
		s.opt.Tell(fmt.Sprintf("The MCP server %s said that its tools have changed, but does not list them: %v.", s.Name, err))
	}
}

// drop ends the connection, if any.
func (s *server) drop() {
	if s.link == nil {
		return
	}
	s.link.close()
	s.link = nil
	s.resubscribe()
}

func (s *server) publish(state State, why string, tools []Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.state, s.now.why = state, why
	if state == Ready {
		s.now.tools = tools // those of an ended server stay: a call starts it again
	}
}

// settle waits for the first attempt to connect, lists the tools again if they have
// changed, and fixes them. A server that reports changes all the time is asked no
// more often than that.
func (s *server) settle(ctx context.Context) {
	select {
	case <-s.begun:
		select {
		case <-s.changed:
			_, _ = s.ask(ctx, want{list: true}) // refresh tells the user about a failure
		default:
		}
		if s.done.Load() < s.due.Load() {
			_, _ = s.ask(ctx, want{check: true}) // recheck tells the user
		}
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.fixed = s.now.tools
}

func (s *server) settled() []Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.now.fixed)
}

func (s *server) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{Name: s.Name, State: s.now.state, Why: s.now.why, Tools: len(s.now.tools)}
	for _, t := range s.now.tools {
		st.Bytes += t.Size()
	}
	if s.URL == "" {
		st.Log = s.logFile()
	} else {
		st.Proxy = proxyOf(s.URL)
	}
	return st
}

// connection returns the connection, which it starts if necessary, or in any case.
func (s *server) connection(ctx context.Context, anew bool) (*link, error) {
	return s.ask(ctx, want{anew: anew})
}

// ask has run do something, and waits for the result.
func (s *server) ask(ctx context.Context, w want) (*link, error) {
	w.got = make(chan session, 1)
	select {
	case s.wants <- w:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case got := <-w.got:
		return got.link, got.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// leave ends a request. If ctx ended and the program has not read the request, it is killed some
// time later: it could carry out the request after the person took it back.
func (l *link) leave(ctx context.Context) {
	if ctx.Err() == nil || l.program == nil {
		return
	}
	read := l.program.stdin.flushed()
	go func() {
		defer crash.Guard()
		l.program.expire(read)
	}()
}

// how describes the end of the connection.
func (l *link) how() string {
	if l.program == nil {
		return "its connection was lost"
	}
	return cmp.Or(l.why(), "its output ended")
}

// why describes the end of the connection's program; "" if it runs or is an address.
func (l *link) why() string {
	if l.program == nil {
		return ""
	}
	return l.program.why()
}

func (l *link) endProgram() {
	if l.program != nil {
		l.program.end()
	}
}

// close ends the connection and the program.
func (l *link) close() {
	l.end()
	if l.program != nil {
		l.work.Go(l.program.end) // closing the session waits for calls, which end with the program
	}
	closed := make(chan struct{})
	go func() {
		defer crash.Guard()
		defer close(closed)
		_ = l.session.Close() // it is not used any more
		l.work.Wait()
	}()
	select {
	case <-closed:
	case <-time.After(2 * closeTime): // an address that does not answer
	}
}
