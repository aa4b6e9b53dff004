// Package idelink puts the link to an editor together with the rest of the
// program: what the configuration says of it, what people are told about it, and
// what it adds to prompts. It guarantees that nothing of the editor reaches the
// model but files that may be read without asking and the selection that the user
// named.
package idelink

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/confirm"
	projectctx "github.com/bb2d0cf4/agent/internal/context"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/ide"
	"github.com/bb2d0cf4/agent/internal/ide/activity"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Options says what the link is for.
type Options struct {
	Config  config.Config
	Root    *workspace.Root
	Version string // of this program
	Session string
	// Alone says that no terminal can answer.
	Alone bool
	// Remark, Insert and Refresh show things to the user; nil where there is nobody.
	Remark  func(id, text string)
	Insert  func(text string)
	Refresh func()
}

// Link is the link to an editor, as the program uses it. A nil Link is one that
// there is not: its methods do nothing.
type Link struct {
	*ide.Bridge
	root  *workspace.Root
	apart bool // the model is told with the newest message, not in the system prompt
	// visible says that commands run in the editor's terminal.
	visible bool
}

// New returns a link that connects once it is started; nil if editors are switched
// off.
func New(o Options) *Link {
	cfg := o.Config.IDE
	if !cfg.Enabled {
		return nil
	}
	l := &Link{root: o.Root, apart: cfg.Context.Place == "message", visible: o.Config.Shell.Surface == "ide"}
	l.Bridge = ide.New(ide.Options{
		Search:  Search(o.Config, o.Root.Dir()),
		Connect: client.Options{Version: o.Version, Session: o.Session, Dir: o.Root.Dir()},
		Auto:    cfg.AutoConnect, Diffs: cfg.UseDiffs && cfg.Review != "off", Inline: cfg.Review == "inline", Alone: o.Alone,
		Tell: ide.Tell{Tabs: cfg.Context.OpenEditors, Diagnostics: cfg.Context.Diagnostics, Selection: cfg.Context.Selection},
		Face: ide.Face{Note: o.Remark, Changed: o.Refresh, Mention: l.mention(o.Insert)},
		May:  l.inside,
		Read: func(path string) (string, error) {
			f, err := o.Root.Read(path)
			return f.Text, err
		},
	})
	return l
}

// Search says where to look for the editors of a folder.
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

// inside says whether a file lies in a folder that the model may read.
func (l *Link) inside(path string) bool {
	_, _, err := l.root.Resolve(path)
	return err == nil
}

// mention puts a file that was named in the editor into the prompt.
func (l *Link) mention(insert func(string)) func(path string, start, end int) {
	if insert == nil {
		return nil
	}
	return func(path string, start, end int) {
		insert("@" + l.name(path) + lines("#L", start, "-", end))
	}
}

// name is what people and models call a file. A folder keeps the separator at its end.
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

// lines names a range of lines; it is empty if there is none.
func lines(before string, start int, between string, end int) string {
	switch {
	case start <= 0:
		return ""
	case end <= start:
		return fmt.Sprintf("%s%d", before, start)
	}
	return fmt.Sprintf("%s%d%s%d", before, start, between, end)
}

// Footer is what the status line says of the editor; empty if none is linked.
func (l *Link) Footer() string {
	if l == nil {
		return ""
	}
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

// Named is what a prompt can name of the editor now.
func (l *Link) Named() []string {
	if l == nil || l.Status().State != ide.Connected {
		return nil
	}
	return Names
}

// Start links the editor, beside everything else. The returned function ends the
// link and waits for its end. The end of ctx does not: a signal that ends the
// program ends its turn first, and the turn takes its diffs off the screen.
func (l *Link) Start(ctx context.Context) (end func()) {
	if l == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var work crash.Group
	work.Go(func() { l.Run(ctx) })
	return func() {
		cancel()
		work.Wait()
	}
}

// firstLink is how long a prompt without a screen waits for its editor.
const firstLink = 5 * time.Second

// Wait waits for the editor that is to answer, and says what it means if there is
// none.
func (l *Link) Wait(ctx context.Context) (warning string) {
	if l == nil {
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
	return why + ": what needs an answer will be denied (agent ide status says more)"
}

// Reviewers adds the editor to those that are asked.
func (l *Link) Reviewers(others []confirm.Reviewer) []confirm.Reviewer {
	if l == nil {
		return others
	}
	return append(append([]confirm.Reviewer(nil), others...), l.Reviewer)
}

// Told is what the system prompt tells of the editor; apart says that it does not.
func (l *Link) Told() (state projectctx.EditorState, apart bool) {
	if l == nil {
		return nil, false
	}
	return l.View, l.apart
}

// Use says which session is in use from now on.
func (l *Link) Use(session string) {
	if l != nil {
		l.Activity.Use(session)
	}
}

// Asker asks as ask does; the editor of l, which may be nil, shows that somebody is
// asked.
func (l *Link) Asker(ask tools.Asker) tools.Asker {
	if l == nil {
		return ask
	}
	return asker{ask, l.Activity}
}

type asker struct {
	tools.Asker
	shown *activity.Activity
}

// Ask asks.
func (a asker) Ask(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	defer a.shown.Asks()()
	return a.Asker.Ask(ctx, req)
}

// Saw takes an event of the session: the editor shows whether the model is at work.
func (l *Link) Saw(ev session.Event) {
	if l == nil {
		return
	}
	switch ev.(type) {
	case session.TurnStarted:
		l.Activity.Work(true)
	case session.TurnEnded:
		l.Activity.Work(false)
	}
}
