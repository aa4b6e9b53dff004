package app

import (
	"context"
	"errors"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"github.com/bb2d0cf4/agent/internal/app/allowedservers"
	"github.com/bb2d0cf4/agent/internal/app/keystore"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/footprint"
	"github.com/bb2d0cf4/agent/internal/mcp"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/subpath"
)

// ServerOptions configures NewServers.
type ServerOptions struct {
	Config    config.Config
	Dir       string // the project's folder
	Untrusted bool   // nothing of that folder may run
	Version   string // of this program
	Tell      func(note string)
	Project   map[string]config.MCPServer // of the project, allowed by the person
	Offered   func()                      // as of mcp.Options
	// Start starts a program, as of mcp.Options.
	Start func(*exec.Cmd) (ended func(), err error)
	// Check is called before each connection to a server; nil for none.
	Check func(ctx context.Context, s mcp.Server) error
	// Ask asks the person a question of a server; nil asks nobody.
	Ask  func(ctx context.Context, q mcp.Question) (answer string, ok bool)
	More []mcp.Server // of the host; the names of the others count first
}

// NewServers returns the configured MCP servers, not started yet. Tell gets the reason
// why one is left out.
func NewServers(o ServerOptions) *mcp.Servers {
	var all []mcp.Server
	entries := maps.Clone(o.Project)
	if entries == nil {
		entries = map[string]config.MCPServer{}
	}
	for name, c := range o.Config.MCP {
		resolved, err := c.Resolved()
		if err != nil && !c.Disabled {
			o.Tell("The MCP server " + name + " is not started: " + err.Error() + ".")
			resolved.Disabled = true
		}
		entries[name] = resolved
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		c := entries[name]
		if c.Disabled {
			continue
		}
		if c.InProject && o.Untrusted {
			o.Tell("The MCP server " + name + " is not started: it would run in this folder, which you have not trusted.")
			continue
		}
		s, err := o.server(name, c)
		if err != nil {
			o.Tell("The MCP server " + name + " is not started: " + err.Error() + ".")
			continue
		}
		all = append(all, s)
	}
	for _, s := range o.More {
		if slices.ContainsFunc(all, func(have mcp.Server) bool { return have.Name == s.Name }) {
			o.Tell("The host's MCP server " + s.Name + " is not started: a server with that name is already configured.")
			continue
		}
		s.Dir = o.Config.Home
		all = append(all, s)
	}
	if o.Check != nil {
		for i, s := range all {
			all[i].Check = func(ctx context.Context) error { return o.Check(ctx, s) }
		}
	}
	return mcp.New(mcp.Options{Version: o.Version, Logs: filepath.Join(o.Config.Home, "mcp"), Logins: Logins{keystore.Open(o.Config.Home)}, Programs: o.Config.Programs(), Dialed: allowedservers.Open(o.Config.Home).Check, Ask: o.Ask, Tell: o.Tell, Offered: o.Offered, Start: o.Start}, all)
}

// Logins keeps logins to MCP servers where keys are kept.
type Logins struct{ keystore.Store }

// Load implements mcp.Logins.
func (l Logins) Load(ctx context.Context, address string) (string, error) {
	return l.Get(ctx, keystore.Login(address))
}

// Save implements mcp.Logins.
func (l Logins) Save(ctx context.Context, address, secret string) error {
	_, err := l.Put(ctx, keystore.Login(address), secret)
	return err
}

// Lock implements mcp.Logins.
func (l Logins) Lock(ctx context.Context, address string) (release func() error, err error) {
	return l.Store.Lock(ctx, keystore.Login(address))
}

// Forget deletes the login to a server. It returns false if none was kept.
func (l Logins) Forget(ctx context.Context, address string) (was bool, err error) {
	return l.Delete(ctx, keystore.Login(address))
}

// server returns a server as it is to be started. Its folder is our own, unless its entry
// says otherwise: a package runner would take programs from the project.
func (o ServerOptions) server(name string, c config.MCPServer) (mcp.Server, error) {
	s := mcp.Server{Name: name, Command: c.Command, URL: c.URL, Always: c.Load == "always"}
	var err error
	if s.Dir, err = c.Folder(o.Config.Home, o.Dir); err != nil {
		return s, err
	}
	env, err := config.Expand(c.Env)
	if err != nil {
		return s, err
	}
	for _, key := range slices.Sorted(maps.Keys(env)) {
		s.Env = append(s.Env, key+"="+env[key])
	}
	s.Headers, err = config.Expand(c.Headers)
	return s, err
}

// newServers returns the configured MCP servers.
func (a *App) newServers(o Options) *mcp.Servers {
	return NewServers(ServerOptions{
		Config: o.Config, Dir: a.Root.Dir(), Untrusted: o.Untrusted, Version: o.Version, Project: o.ProjectServers, More: o.Servers,
		Check:   func(ctx context.Context, s mcp.Server) error { return a.checkServer(ctx, s, o.ServerChanged) },
		Ask:     a.askForServer,
		Tell:    func(note string) { a.emit(session.Notice{Text: note}) },
		Offered: func() { a.face.Offered() },
		Start:   a.jobs.StartProgram,
	})
}

// checkServer returns the reason why a server must not be used now: it runs other files than a
// person allowed, or it is the editor that the session links to.
func (a *App) checkServer(ctx context.Context, s mcp.Server, changed func(name string) bool) error {
	switch {
	case len(s.Command) > 0:
		return a.served.check(ctx, a, s, changed != nil && changed(s.Name))
	case s.URL != "" && a.Editor.Serves(ctx, s.URL):
		return errors.New("it is the editor that this session links to, whose files, problems and reviews are here already; /ide disconnect, or --no-ide at the start, uses it instead of the link")
	}
	return nil
}

// served holds the programs of MCP servers that were started.
type served struct {
	mu  sync.Mutex
	all map[string]*permission.Watched // by the server's name
}

// check returns the reason why the program of a server must not be started: it runs files that
// have changed since the last time without a person seeing that, and nobody allows it. changed is set
// if they are not those that were allowed before the session.
func (v *served) check(ctx context.Context, a *App, s mcp.Server, changed bool) error {
	w, known := v.of(a, s, changed)
	switch {
	case !known && changed:
		return errors.New("its entry or a file of the project that it runs has changed since you allowed it; start agent again to be asked")
	case !known:
		return nil
	}
	for why := w.Changed(); why != ""; why = w.Changed() {
		line := footprint.Words(s.Dir, s.Command, nil).Line
		if !a.askForProgram(ctx, line, s.Dir, "This starts the MCP server "+s.Name+" again. You are asked because "+why+". It runs outside of the sandbox.") {
			return errors.New("it is not started again, because " + why)
		}
		w.Accept()
	}
	return nil
}

// of returns the program of a server, and whether it was started before. Otherwise it notes its
// present files, unless they have changed.
func (v *served) of(a *App, s mcp.Server, changed bool) (w *permission.Watched, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if w = v.all[s.Name]; w != nil || changed {
		return w, w != nil
	}
	whole := footprint.Sources
	if !subpath.In(a.Root.Dir(), s.Dir) {
		whole = footprint.Anything + 1 // our own folder changes all the time
	}
	if v.all == nil {
		v.all = map[string]*permission.Watched{}
	}
	v.all[s.Name] = a.Policy.Watch(footprint.Words(s.Dir, s.Command, s.Env), whole, "")
	return nil, false
}

// askForServer asks the person a question of a server, whose answer goes to that server.
func (a *App) askForServer(ctx context.Context, q mcp.Question) (answer string, ok bool) {
	v, err := asker{a}.Ask(ctx, confirm.Request{Tool: mcp.Prefix + q.Server, Subject: &confirm.Choice{
		From: "The MCP server " + q.Server, Reader: "the MCP server " + q.Server, Text: q.Text + "\n\nYour answer goes to that server.", Options: q.Options,
	}})
	return v.Answer, err == nil && v.Decision == confirm.Approve
}
