package ide

import (
	"context"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/ide/client"
)

// telling is how long an editor may take to say what it shows. Nobody waits for
// that long: what it says later is there for the next time.
const telling = 5 * time.Second

// State returns what the editor shows, as far as it is known when ctx ends. Once
// an editor was late it is not waited for again before it has answered. Files
// that may not be read are left out.
func (b *Bridge) State(ctx context.Context) editor.State {
	l, _ := b.now.get()
	if l == nil {
		return editor.State{}
	}
	if asked, first := b.look(ctx, l); first {
		select {
		case <-asked:
		case <-ctx.Done():
		}
	}
	l.mu.Lock()
	seen := l.seen
	l.mu.Unlock()
	s := editor.State{Name: l.name()}
	if b.opt.Tell.Tabs {
		s.Tabs = b.tabs(seen.tabs)
	}
	if b.opt.Tell.Diagnostics {
		s.Diagnostics = b.findings(seen.diagnostics)
	}
	if b.opt.Tell.Selection {
		s.Selection = b.place(l, seen.selection)
	}
	return s
}

// look asks the editor what it shows. The channel is closed when it has answered;
// first is false if the question was under way already.
func (b *Bridge) look(ctx context.Context, l *link) (asked <-chan struct{}, first bool) {
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
		b.fetch(ctx, l)
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

// fetch asks for everything that State tells of, at once. What an editor cannot
// say stays as it was.
func (b *Bridge) fetch(ctx context.Context, l *link) {
	var all sync.WaitGroup
	if b.opt.Tell.Tabs {
		all.Go(func() {
			if tabs, err := l.client.Documents.Tabs(ctx); err == nil {
				l.note(func(s *seen) { s.tabs = tabs })
			}
		})
	}
	if b.opt.Tell.Diagnostics {
		all.Go(func() {
			if found, _, err := l.client.Documents.Diagnostics(ctx, "", 0); err == nil {
				l.note(func(s *seen) { s.diagnostics = found })
			}
		})
	}
	all.Go(func() { b.firstSelection(ctx, l) })
	all.Wait()
}

// firstSelection asks for the selection once: from then on the editor tells it.
func (b *Bridge) firstSelection(ctx context.Context, l *link) {
	l.mu.Lock()
	told := l.seen.told
	l.mu.Unlock()
	if told {
		return
	}
	if sel, err := l.client.Documents.LatestSelection(ctx); err == nil {
		l.note(func(s *seen) {
			if !s.told {
				s.selection, s.told = sel, true
			}
		})
	}
}

func (l *link) note(change func(*seen)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.seen)
}

func (b *Bridge) tabs(all []editor.Tab) []editor.Tab {
	var out []editor.Tab
	for _, t := range all {
		if b.readable(t.Path) {
			out = append(out, t)
		}
	}
	return out
}

func (b *Bridge) findings(all []editor.Diagnostic) []editor.Diagnostic {
	may := map[string]bool{}
	var out []editor.Diagnostic
	for _, d := range all {
		ok, known := may[d.Path]
		if !known {
			ok = b.readable(d.Path)
			may[d.Path] = ok
		}
		if ok {
			out = append(out, d)
		}
	}
	return out
}

func (b *Bridge) readable(path string) bool {
	if b.opt.May == nil {
		return true
	}
	return b.opt.May(path)
}

// place says where the selection is; nil if nothing is selected, or nothing that
// can be told. Lines are only told where they hold what is selected; our own
// extension is believed, as its file may not be saved.
func (b *Bridge) place(l *link, s client.Selection) *editor.Selection {
	if s.Path == "" || s.Text == "" || !b.readable(s.Path) {
		return nil
	}
	out := &editor.Selection{Path: s.Path, Text: s.Text}
	if l.ours() {
		out.StartLine, out.EndLine = s.ClaimedLines()
		return out
	}
	if b.opt.Read == nil {
		return nil
	}
	text, err := b.opt.Read(s.Path)
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

// Selection returns what is selected in the editor; nil if nothing is, or nothing
// that may be read.
func (b *Bridge) Selection() *editor.Selection {
	l, _ := b.now.get()
	if l == nil {
		return nil
	}
	l.mu.Lock()
	s := l.seen.selection
	l.mu.Unlock()
	return b.place(l, s)
}
