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
	// Start starts a program, as shell.Jobs.StartProgram; nil starts it without a watchdog.
	Start func(*exec.Cmd) (ended func(), err error)
	// Servers are the person's, which go before the known ones; Off names those that are not used.
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
}

// Usable is a server whose program is installed, or the reason why it is not used.
type Usable struct {
	Server
	Path   string
	Reason string
}

// New returns the servers of a project. None is running.
func New(o Options) *Servers {
	s := &Servers{opt: o, running: map[string]*process{}, allowed: map[string]bool{}}
	s.usable = sync.OnceValue(s.look)
	return s
}

// look finds the servers of the project's languages, the first for each.
func (s *Servers) look() (all []Usable) {
	served := map[string]bool{}
	for _, each := range append(slices.Clone(s.opt.Servers), known...) {
		if !slices.ContainsFunc(s.opt.Folders, func(folder string) bool { return concerns(each, folder) }) {
			continue
		}
		u := Usable{Server: each}
		path, err := s.opt.Programs.Find(each.Command[0])
		switch {
		case slices.Contains(s.opt.Off, each.Name):
			u.Reason = "language_servers switches it off"
		case err != nil:
			u.Reason = each.Command[0] + " is not on PATH"
		case s.opt.Untrusted:
			u.Reason = "the folder is not trusted"
		case served[each.id()]:
			u.Reason = "another server is used for these files"
		default:
			u.Path, served[each.id()] = path, true
		}
		all = append(all, u)
	}
	return all
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
		if s.running[u.Name] == nil && !s.allowed[u.Name] && u.serves(path) {
			all = append(all, u)
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
		err = p.ready(ctx)
	}
	stuck := false
	if err == nil {
		err = p.inTurn(ctx, question)
		late := new(timelimit.Error) // not the end of the caller's patience
		stuck = err != nil && errors.As(context.Cause(ctx), &late) && !p.isBusy()
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

func (s *Servers) started(ctx context.Context, u Usable) (*process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("the session ends")
	}
	if p := s.running[u.Name]; p != nil {
		return p, nil
	}
	p, err := start(ctx, u, s.opt)
	if err == nil {
		s.running[u.Name] = p
	}
	return p, err
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
