// Package langserver asks language servers, programs of the person's machine, for the definitions and uses
// of names, and for the changes of a rename. It guarantees that a server starts only when it is asked for the first
// time, is never a program of the project, changes nothing itself, and ends with this program.
package langserver

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/lookpath"
	"github.com/bb2d0cf4/agent/internal/timelimit"
)

// askTime bounds a question, the start of its server and the reading of the project included.
const askTime = 30 * time.Second

// idleTime is how long a server stays that nobody asks. It is longer than a person reads an answer and writes the next prompt; the
// next question starts the server again, which reads the project anew.
const idleTime = 15 * time.Minute

// Server is a language server that may be installed.
type Server struct {
	Name    string
	Command []string
	// Languages has the protocol's ids of its languages, by the ends of file names, such as ".go".
	Languages map[string]string
	// Markers are files of a project's folder that tell its languages.
	Markers []string
	// Settings are of its own form, JSON, for its start.
	Settings string
	// Broken is why it cannot start, as the reason of a Usable; "" if it can.
	Broken string
	// Version is the command line that prints its version; the program is beside that of the server. None if there is no such.
	Version []string
	// Passes is its command that passes a request on to tsserver; "" without one.
	Passes string
}

// Options configures New.
type Options struct {
	Folders   []string // of the project, absolute; the first is the main one
	Untrusted bool     // no server starts
	Programs  lookpath.Search
	// Env is the environment of the servers.
	Env []string
	// Start starts a program, as shell.Jobs.StartProgram, in a room if it is to be confined; nil starts it without a watchdog.
	Start func(ctx context.Context, cmd *exec.Cmd, confined bool) (ended func(), err error)
	// Confined reports whether servers start in a room, in which they change nothing, have no network, and are limited; nil
	// for no.
	Confined func(context.Context) bool
	// After calls f after a time, unless it is stopped before; nil is time.AfterFunc.
	After func(d time.Duration, f func()) (stop func() bool)
	// Servers are the person's, which go before the others: known ones, of which the parts that are set change, and their
	// own. Off names those that are not used.
	Servers []Server
	Off     []string
	// Editor is asked before any server; nil for none.
	Editor Editor
}

// Servers are the language servers of a session. Its methods may be called concurrently.
type Servers struct {
	opt    Options
	usable func() []Usable

	mu      sync.Mutex // guards the rest
	closed  bool
	running map[string]*process // by the server's name
	allowed map[string]bool     // names of servers that may start
	asked   bool                // one has started
}

// Usable is a server whose program is installed, or the reason why it is not used.
type Usable struct {
	Server
	Path     string
	Reason   string
	Confined bool // of one that is to start: it runs in a room
}

// New returns the servers of a project. None is running.
func New(o Options) *Servers {
	if o.Confined == nil {
		o.Confined = func(context.Context) bool { return false }
	}
	if o.After == nil {
		o.After = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, crash.Guarded(f)).Stop }
	}
	s := &Servers{opt: o, running: map[string]*process{}, allowed: map[string]bool{}}
	s.usable = sync.OnceValue(s.look)
	return s
}

// look finds the servers of the project's languages, the first for each.
func (s *Servers) look() (all []Usable) {
	served := map[string]bool{}
	for _, each := range s.opt.servers() {
		u := Usable{Server: each, Reason: each.lacks()}
		if u.Reason == "" && !slices.ContainsFunc(s.opt.Folders, func(folder string) bool { return concerns(each, folder) }) {
			continue
		}
		if u.Reason == "" {
			u.Path, u.Reason = s.find(each, served[each.id()])
		}
		if u.Path != "" {
			served[each.id()] = true
		}
		all = append(all, u)
	}
	return all
}

// find returns the program of a server, or the reason why it is not used. served means that another is, for its languages.
func (s *Servers) find(each Server, served bool) (path, reason string) {
	path, err := s.opt.Programs.Find(each.Command[0])
	missing := new(exec.Error)
	switch {
	case slices.Contains(s.opt.Off, each.Name):
		reason = "language_servers switches it off"
	case errors.As(err, &missing):
		reason = each.Command[0] + " is not on PATH"
	case err != nil:
		reason = err.Error()
	case s.opt.Untrusted:
		reason = "the folder is not trusted"
	case served:
		reason = "another server is used for these files"
	default:
		return path, ""
	}
	return "", reason
}

// id names the languages of a server.
func (s Server) id() string {
	var ids []string
	for _, id := range s.Languages {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), " ")
}

// List returns the servers of the project's languages, used or not.
func (s *Servers) List() []Usable { return s.usable() }

// Serve reports whether there is anybody who answers.
func (s *Servers) Serve() bool {
	return s != nil && (s.edits() || slices.ContainsFunc(s.usable(), func(u Usable) bool { return u.Path != "" }))
}

// Asked reports whether one has started in this session, or an editor may answer.
func (s *Servers) Asked() bool {
	s.mu.Lock()
	asked := s.asked
	s.mu.Unlock()
	return asked || s.edits()
}

// edits reports whether an editor may answer.
func (s *Servers) edits() bool { return s.opt.Editor != nil && s.opt.Editor.Answers() }

// Starts returns the servers that must start before a question is answered, about the file at path or, without
// one, about the project: none if a linked editor knows the answer.
func (s *Servers) Starts(ctx context.Context, path string) (all []Usable) {
	if s.edits() && (path == "" || s.editorKnows(ctx, path)) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.usable() {
		if !u.serves(path) {
			continue
		}
		if s.running[u.Name] == nil && !s.allowed[u.Name] {
			u.Confined = s.opt.Confined(ctx)
			all = append(all, u)
		}
		if path != "" {
			return all // the first answers
		}
	}
	return all
}

// serves reports whether a server that can be used knows the language of a file, or any without a path.
func (u Usable) serves(path string) bool {
	return u.Path != "" && (path == "" || u.Languages[strings.ToLower(filepath.Ext(path))] != "")
}

// Allow has a server start with the next question for it: a person, or a rule, has agreed.
func (s *Servers) Allow(u Usable) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.allowed[u.Name] = true
}

// NoServerError is the error of a question about a file of a language without a server.
type NoServerError struct{ Path string }

func (e NoServerError) Error() string {
	return "no language server knows " + e.Path
}

// Close ends the servers.
func (s *Servers) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.closed = true
	running := s.running
	s.running = map[string]*process{}
	s.mu.Unlock()
	var all crash.Group
	for _, p := range running {
		p.stay()
		all.Go(p.end)
	}
	all.Wait()
}

// Changed has the servers read a file again.
func (s *Servers) Changed(path string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.running {
		p.noteChanged(path)
	}
}

// ask asks the editor or, if that does not know the answer, the server of the file at path.
func (s *Servers) ask(ctx context.Context, path string, question func(context.Context, peer) error) error {
	unknown := error(NoServerError{path})
	if s.edits() {
		err := s.askEditor(ctx, question)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if !errors.Is(err, errUnknown) {
			unknown = err
		}
	}
	for _, u := range s.usable() {
		if u.serves(path) && s.may(u) {
			return s.with(ctx, u, question)
		}
	}
	return unknown
}

// may reports whether a server runs, or may start.
func (s *Servers) may(u Usable) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[u.Name] != nil || s.allowed[u.Name]
}

// with asks a server, which it starts if it is not running.
func (s *Servers) with(ctx context.Context, u Usable, question func(context.Context, peer) error) error {
	ctx, cancel := timelimit.Context(ctx, askTime)
	defer cancel()
	p, err := s.started(ctx, u)
	if err == nil {
		defer s.answered(u.Name, p)
		err = p.ready(ctx)
	}
	stuck := false
	if err == nil {
		err = p.inTurn(ctx, question)
		stuck = s.stuck(p, err != nil && errors.As(context.Cause(ctx), new(*timelimit.Error))) // not the end of the caller's patience
	}
	if err != nil && ctx.Err() != nil {
		err = timelimit.Explain(ctx, ctx.Err())
	}
	if stuck || err != nil && p != nil && p.hasEnded() {
		s.forget(u.Name, p)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", u.Name, err)
	}
	return nil
}

// stuck notes whether a question was late, and reports whether the server is of no use any more.
func (s *Servers) stuck(p *process, late bool) bool {
	busy := p.isBusy()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !late {
		p.late = 0
		return false
	}
	p.late++
	return !busy || p.late > maxLate
}

func (s *Servers) started(ctx context.Context, u Usable) (*process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("the session ends")
	}
	p := s.running[u.Name]
	if p == nil {
		var err error
		if p, err = start(ctx, u, s.opt); err != nil {
			return nil, err
		}
		s.running[u.Name], s.asked = p, true
	}
	p.stay()
	p.asks++
	return p, nil
}

// answered notes the end of a question. A server that gets no other for long ends, and may start again.
func (s *Servers) answered(name string, p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.asks--; p.asks > 0 || s.running[name] != p {
		return
	}
	p.stay = s.opt.stopping(func() {
		s.mu.Lock()
		idle := s.running[name] == p && p.asks == 0
		if idle {
			delete(s.running, name)
		}
		s.mu.Unlock()
		if idle {
			p.end()
		}
	})
}

// stopping calls end after idleTime, unless the result is called before.
func (o Options) stopping(end func()) (stay func()) {
	stop := o.After(idleTime, end)
	return func() { stop() }
}

// forget has a server that has ended start again with the next question.
func (s *Servers) forget(name string, p *process) {
	s.mu.Lock()
	if s.running[name] == p {
		delete(s.running, name)
		delete(s.allowed, name)
	}
	s.mu.Unlock()
	p.end()
}
