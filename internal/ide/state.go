package ide

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/ide/client"
)

// telling bounds a question about the editor's state. Nobody waits that long: a late
// answer is used the next time.
const telling = 5 * time.Second

// View is the state of the linked editor, without files that the model may not see.
type View struct {
	opt   *Options
	links *current

	writes writes

	mu     sync.Mutex // guards glance
	glance glance
}

// glance is the last selection that was looked up.
type glance struct {
	link   *link
	serial int
	at     *editor.Selection
}

// State returns the editor's state as far as it is known when ctx ends. It does not
// wait again for an editor that has not answered the last question yet.
func (v *View) State(ctx context.Context) editor.State {
	l, _ := v.links.get()
	if l == nil {
		return editor.State{}
	}
	if asked, first := v.look(ctx, l); first {
		select {
		case <-asked:
		case <-ctx.Done():
		}
	}
	l.mu.Lock()
	seen := l.seen
	l.mu.Unlock()
	s := editor.State{Name: l.name()}
	if v.opt.Tell.Tabs {
		s.Tabs = v.tabs(seen.tabs)
	}
	if v.opt.Tell.Diagnostics {
		s.Diagnostics = v.findings(seen.diagnostics)
	}
	if v.opt.Tell.Selection {
		s.Selection = v.place(l, seen.selection)
	}
	return s
}

// look asks the editor for its state. The channel is closed when the editor has
// answered; first is false if a question was pending already.
func (v *View) look(ctx context.Context, l *link) (asked <-chan struct{}, first bool) {
	l.mu.Lock()
	if l.seen.asking != nil {
		defer l.mu.Unlock()
		return l.seen.asking, false
	}
	done := make(chan struct{})
	l.seen.asking = done
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), telling)
	begun := l.begin(func() {
		defer cancel()
		v.fetch(ctx, l)
		l.mu.Lock()
		l.seen.asking = nil
		l.mu.Unlock()
		close(done)
	})
	if !begun {
		cancel()
		close(done)
	}
	return done, true
}

// fetch asks for all parts of State at once. Parts that the editor cannot report stay
// as they were.
func (v *View) fetch(ctx context.Context, l *link) {
	var all crash.Group
	all.Go(func() {
		if tabs, err := l.client.Documents.Tabs(ctx); err == nil {
			l.note(func(s *seen) { s.update(tabs) })
		}
	})
	if v.opt.Tell.Diagnostics {
		all.Go(func() {
			if found, _, err := l.client.Documents.Diagnostics(ctx, "", 0); err == nil {
				l.note(func(s *seen) { s.diagnostics = found })
			}
		})
	}
	all.Go(func() { v.firstSelection(ctx, l) })
	all.Wait()
}

// update sets the open files. An editor does not report that the file of the selection was closed, and
// tells the next program that asks about a selection in a file that was closed before.
func (s *seen) update(tabs []editor.Tab) {
	open := func(tabs []editor.Tab) bool {
		return slices.ContainsFunc(tabs, func(t editor.Tab) bool { return t.Path == s.selection.Path })
	}
	if s.selection.Path != "" && !open(tabs) && (s.old || open(s.tabs)) {
		s.selection = client.Selection{}
		s.serial++
	}
	s.tabs, s.listed, s.old = tabs, true, false
}

// firstSelection asks for the selection once; from then on the editor reports it.
func (v *View) firstSelection(ctx context.Context, l *link) {
	l.mu.Lock()
	known := l.seen.initialized
	l.mu.Unlock()
	if known {
		return
	}
	if sel, err := l.client.Documents.LatestSelection(ctx); err == nil {
		l.note(func(s *seen) {
			if !s.initialized {
				s.selection, s.initialized, s.old = sel, true, true
				s.serial++
				if s.listed {
					s.update(s.tabs)
				}
			}
		})
	}
}

func (l *link) note(change func(*seen)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.seen)
}

func (v *View) tabs(all []editor.Tab) []editor.Tab {
	var out []editor.Tab
	for _, t := range all {
		if v.readable(t.Path) {
			out = append(out, t)
		}
	}
	return out
}

func (v *View) findings(all []editor.Diagnostic) []editor.Diagnostic {
	may := map[string]bool{}
	var out []editor.Diagnostic
	for _, d := range all {
		ok, known := may[d.Path]
		if !known {
			ok = v.readable(d.Path)
			may[d.Path] = ok
		}
		if ok {
			out = append(out, d)
		}
	}
	return out
}

func (v *View) readable(path string) bool {
	if v.opt.May == nil {
		return true
	}
	return v.opt.May(path)
}

// place returns the position of the selection, or nil if nothing is selected or may be
// shown. It trusts the lines of our own extension, whose file may be unsaved; lines of
// other editors must hold the selected text.
func (v *View) place(l *link, s client.Selection) *editor.Selection {
	if s.Path == "" || s.Text == "" || !v.readable(s.Path) {
		return nil
	}
	out := &editor.Selection{Path: s.Path, Text: s.Text}
	if l.ours() {
		out.StartLine, out.EndLine = s.ClaimedLines()
		return out
	}
	if v.opt.Read == nil {
		return nil
	}
	text, err := v.opt.Read(s.Path)
	if err != nil {
		return nil // a closed file, or the editor's own diff
	}
	start, end, ok := s.Lines(text)
	if !ok {
		return nil
	}
	out.StartLine, out.EndLine = start, end
	return out
}

// Selection returns the editor's selection, or nil if nothing is selected or may be
// read.
func (v *View) Selection() *editor.Selection {
	l, _ := v.links.get()
	if l == nil {
		return nil
	}
	l.mu.Lock()
	s := l.seen.selection
	l.mu.Unlock()
	return v.place(l, s)
}

// Glance is a cheap Selection for frequent calls: it reads files only after the
// selection has changed.
func (v *View) Glance() *editor.Selection {
	l, _ := v.links.get()
	if l == nil {
		return nil
	}
	l.mu.Lock()
	s, serial := l.seen.selection, l.seen.serial
	l.mu.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.glance.link != l || v.glance.serial != serial {
		v.glance = glance{l, serial, v.place(l, s)}
	}
	return v.glance.at
}
