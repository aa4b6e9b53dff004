// Package idelink puts the link to an editor together with the rest of the
// program: what the configuration says of it, what people are told about it, and
// what it adds to prompts. It guarantees that nothing of the editor reaches the
// model but files that may be read without asking and the selection that the user
// named.
package idelink

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/ide"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
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

// Link is the link to an editor, as the program uses it.
type Link struct {
	*ide.Bridge
	root  *workspace.Root
	place string // where the model is told: system or message
	told  string // the editor's block that it was told last
}

// New returns a link that connects once Run runs.
func New(o Options) *Link {
	cfg := o.Config.IDE
	l := &Link{root: o.Root, place: cfg.Context.Place}
	l.Bridge = ide.New(ide.Options{
		Search:  Search(o.Config, o.Root.Dir()),
		Connect: client.Options{Version: o.Version, Session: o.Session, Dir: o.Root.Dir()},
		Auto:    cfg.AutoConnect, Diffs: cfg.UseDiffs && cfg.Review, Alone: o.Alone,
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

// name is what people and models call a file.
func (l *Link) name(path string) string {
	if _, name, err := l.root.Resolve(path); err == nil {
		return name
	}
	return path
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
	s := l.Status()
	if s.State != ide.Connected {
		return ""
	}
	text := s.Editor.File.Name
	if sel := l.Selection(); sel != nil {
		text += ": " + filepath.Base(sel.Path) + lines(":", sel.StartLine, "-", sel.EndLine)
	}
	return text
}
