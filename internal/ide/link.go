package ide

import (
	"context"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
)

// link is a connection to one editor.
type link struct {
	client  *client.Client
	from    lock.Candidate
	since   time.Time
	session string // the id that the editor was told when it was connected

	left      *left       // of all links of this side
	work      crash.Group // what was begun for the link
	encodings *client.Encodings

	mu      sync.Mutex // guards the fields below
	unheard time.Time  // since when a probe is unanswered; zero: none is
	closing bool       // nothing more is begun
	seen    seen
	shown   map[string]bool // names of the diffs that are open
}

// seen is what the editor was last seen to show.
type seen struct {
	tabs        []editor.Tab
	diagnostics []editor.Diagnostic
	selection   client.Selection
	asking      chan struct{} // closed when the question under way is answered; nil if none is
	told        bool          // the editor has told its selection by itself
	serial      int           // of the selection: grows with each
}

// dial connects to an editor.
func (b *Bridge) dial(ctx context.Context, from lock.Candidate) (*link, error) {
	l := &link{from: from, left: &b.left}
	o := b.opt.Connect
	o.Events = b.events(l)
	l.session = b.Activity.Session()
	o.Session = l.session
	c, err := client.Connect(ctx, from, o)
	if err != nil {
		return nil, err
	}
	l.client, l.encodings, l.since = c, client.NewEncodings(c), b.opt.Clock.Wall()
	l.clear(ctx)
	return l, nil
}

// events hands on what the editor tells.
func (b *Bridge) events(l *link) client.Events {
	return client.Events{
		Selection: func(s client.Selection) {
			l.mu.Lock()
			l.seen.selection, l.seen.told = s, true
			l.seen.serial++
			l.mu.Unlock()
			b.opt.Face.changed()
		},
		Mention: func(m client.Mention) {
			if b.opt.Face.Mention != nil {
				b.opt.Face.Mention(m.Path, m.StartLine, m.EndLine)
			}
		},
		Draft: func(c client.DraftChange) { b.Reviewer.drafted(l, c) },
	}
}

// begin runs f beside everything else; close waits for it. It returns false if
// the link is being closed.
func (l *link) begin(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return false
	}
	l.work.Go(f)
	return true
}

// close ends the connection and what was begun for it.
func (l *link) close() {
	l.mu.Lock()
	l.closing = true
	l.mu.Unlock()
	l.client.Close()
	l.work.Wait()
}

// probe returns nil if the editor answers at all before ctx ends.
func (l *link) probe(ctx context.Context) error {
	began := time.Now()
	l.mu.Lock()
	if l.unheard.IsZero() {
		l.unheard = began
	}
	l.mu.Unlock()
	err := l.client.Probe(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil || l.unheard.Equal(began) && time.Since(began) < deaf { // given up early
		l.unheard = time.Time{}
	}
	return err
}

// isDeaf reports whether the editor has left a probe unanswered for so long that
// nothing is to wait for it.
func (l *link) isDeaf() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.unheard.IsZero() && time.Since(l.unheard) > deaf
}

// show notes that a diff is open; the returned function, that it is not any more.
func (l *link) show(tab string) (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown == nil {
		l.shown = map[string]bool{}
	}
	l.shown[tab] = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.shown, tab)
	}
}

// name is what people call the editor.
func (l *link) name() string { return nameOf(l.from) }

// ours says that the editor has our own extension: drafts, details, status.
func (l *link) ours() bool { return l.client.Info().Ours }
