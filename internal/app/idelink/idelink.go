// Package idelink joins the link to an editor with the rest of a session: its
// configuration, its messages to people, its tools and its part of prompts. It
// guarantees that the model gets nothing from the editor except the state of files
// that may be read without asking, the selection that the user named, and answers to its questions about names.
package idelink

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/ide"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
	"github.com/bb2d0cf4/agent/internal/peer"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Options configures a Link.
type Options struct {
	Config  config.Config
	Root    *workspace.Root
	Version string // of this program
	Session string // the id of the session in use
	// Unattended means that nobody is at a terminal: closing a diff in the editor without
	// an answer then means no.
	Unattended bool
	// Linked is called when Serves may have changed. It must not block.
	Linked func()
}

// Face shows the editor's reports. Its functions must not block; nil ones are skipped.
type Face struct {
	Remark  func(id, text string) // sets the remark on the question with that id; "" removes it
	Insert  func(text string)     // puts text into the prompt
	Refresh func()                // redraws the status
}

// Link is the link to an editor. If editors are switched off it never connects to one;
// all its methods work then as they do while no editor runs.
type Link struct {
	*ide.Bridge
	root *workspace.Root
	face Face
	off  bool // editors are switched off
	auto bool // an editor is linked without a command
	// visible means that commands run in the editor's terminal.
	visible bool
	settled time.Time // when prompts stop waiting for the first search for an editor
}

// New returns a Link that connects once it is started.
func New(o Options) *Link {
	cfg := o.Config.IDE
	l := &Link{root: o.Root, off: !cfg.Enabled, auto: cfg.Enabled && cfg.AutoConnect, visible: cfg.Enabled && o.Config.Shell.Surface == "ide"}
	l.Bridge = ide.New(ide.Options{
		Search:  Search(o.Config, o.Root.Dir()),
		Connect: client.Options{Version: o.Version, Session: o.Session, Dir: o.Root.Dir()},
		Auto:    l.auto, Diffs: cfg.UseDiffs && cfg.Review != "off", Inline: cfg.Review == "inline", Unattended: o.Unattended,
		Tell: ide.Tell{Tabs: cfg.Context.OpenEditors, Diagnostics: cfg.Context.Diagnostics, Selection: cfg.Context.Selection},
		Face: ide.Face{Note: l.remark, Changed: l.refresh, Mention: l.mention, Linked: o.Linked},
		May:  l.inside,
		Read: func(path string) (string, error) {
			f, err := o.Root.Peek(path)
			return f.Text, err
		},
	})
	return l
}

// Attach sends the editor's reports to face. Call it before Start.
func (l *Link) Attach(face Face) { l.face = face }

func (l *Link) remark(id, text string) {
	if l.face.Remark != nil {
		l.face.Remark(id, text)
	}
}

func (l *Link) refresh() {
	if l.face.Refresh != nil {
		l.face.Refresh()
	}
}

// mention puts the name of a file that was sent from the editor into the prompt.
func (l *Link) mention(path string, start, end int) {
	if l.face.Insert != nil {
		l.face.Insert("@" + l.name(path) + lines("#L", start, "-", end))
	}
}

// Search returns the places in which to look for editors that have dir open.
func Search(cfg config.Config, dir string) lock.Search {
	s := lock.Search{Folder: cfg.IDE.LockDir, Dir: dir, Foreign: cfg.IDE.Foreign == "auto"}
	if s.Folder == "" {
		s.Folder = filepath.Join(cfg.Home, "ide")
	}
	if home, err := os.UserHomeDir(); err == nil {
		s.Home = home
	}
	return s
}

// inside reports whether the model may read a file.
func (l *Link) inside(path string) bool {
	_, _, err := l.root.Resolve(path)
	return err == nil
}

// name returns the name of a file for people and models. A folder keeps the separator
// at its end.
func (l *Link) name(path string) string {
	_, name, err := l.root.Resolve(path)
	if err != nil {
		return path
	}
	if strings.HasSuffix(path, string(filepath.Separator)) && !strings.HasSuffix(name, "/") {
		name += "/"
	}
	return name
}

// lines formats a range of lines; it returns "" without one.
func lines(before string, start int, between string, end int) string {
	switch {
	case start <= 0:
		return ""
	case end <= start:
		return fmt.Sprintf("%s%d", before, start)
	}
	return fmt.Sprintf("%s%d%s%d", before, start, between, end)
}

// Footer returns the status line's text about the editor; empty if none is linked.
func (l *Link) Footer() string {
	s := l.Status()
	if s.State != ide.Connected {
		return ""
	}
	text := sanitize.Line(s.Editor.File.Name)
	if sel := l.View.Glance(); sel != nil {
		text += ": " + sanitize.Line(filepath.Base(sel.Path)) + lines(":", sel.StartLine, "-", sel.EndLine)
	}
	return text
}

// Named returns the elements of Names that mean something now: none without an editor.
func (l *Link) Named() []string {
	if l.Status().State != ide.Connected {
		return nil
	}
	return Names
}

// Start links the editor in the background. The returned function ends the link and
// waits until it has ended. The end of ctx does not end it: a signal that ends the
// program ends its turn first, and the turn takes its diffs off the screen.
func (l *Link) Start(ctx context.Context) (end func()) {
	if l.off {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if l.auto {
		l.settled = time.Now().Add(firstSearch)
	}
	var work crash.Group
	work.Go(func() { l.Run(ctx) })
	return func() {
		cancel()
		work.Wait()
	}
}

// firstSearch is how long after the start a prompt waits for the search for an editor.
const firstSearch = 300 * time.Millisecond

// Settle waits until an editor is linked or none was found, but only shortly after the
// start: a prompt on the command line then finds the editor linked.
func (l *Link) Settle(ctx context.Context) {
	ctx, cancel := context.WithDeadline(ctx, l.settled)
	defer cancel()
	l.Await(ctx)
}

// firstLink is how long a prompt without a screen waits for its editor.
const firstLink = 5 * time.Second

// Wait waits until an editor is linked, for at most 5 s. Without one it returns a
// warning for the user.
func (l *Link) Wait(ctx context.Context) (warning string) {
	if l.off {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, firstLink)
	defer cancel()
	if l.Await(ctx) {
		return ""
	}
	why := l.Status().Why
	if why == "" {
		why = ide.ErrNoEditor.Error()
	}
	return why + ": every question will be denied (see agent ide status)"
}

// Review makes questions ask the editor, too.
func (l *Link) Review(questions *confirm.Controller) {
	if !l.off {
		questions.Attach(l.Reviewer)
	}
}

// Use tells the editor which session is in use from now on.
func (l *Link) Use(session string) { l.Activity.Use(session) }

// Equip gives tools access to the editor's buffers, findings and, if it is configured,
// terminal.
func (l *Link) Equip(d tools.Deps) tools.Deps {
	d.Buffers, d.Reports, d.Writes = l.View, l.View, l.View
	if l.visible {
		d.Jobs = visible{d.Jobs, l.Terminal}
	}
	return d
}

// Saw updates the editor's display of whether the model is working.
func (l *Link) Saw(ev session.Event) {
	switch ev.(type) {
	case session.TurnStarted:
		l.Activity.Work(true)
	case session.TurnEnded:
		l.Activity.Work(false)
	}
}

// Serves reports whether an address is that of the MCP server of the editor to which the
// session is linked or will link by itself.
func (l *Link) Serves(ctx context.Context, address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Path != "/mcp" || !peer.IsLoopback(u.Hostname()) {
		return false
	}
	serves := func(c lock.Candidate) bool { return strconv.Itoa(c.Port) == u.Port() && c.Dialect == lock.Agent }
	switch s := l.Status(); s.State {
	case ide.Off:
		return false
	case ide.Connected:
		return serves(s.Editor)
	}
	return slices.ContainsFunc(l.Candidates(ctx), func(c lock.Candidate) bool { return c.Auto && serves(c) })
}
