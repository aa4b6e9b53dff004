package ide

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
	"github.com/bb2d0cf4/agent/internal/ide/wire"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// link is a connection to one editor.
type link struct {
	client  *client.Client
	from    lock.Candidate
	since   time.Time
	session string // the session id sent when the link was made

	left      *left       // shared by all links of the Bridge
	work      crash.Group // the link's goroutines
	encodings *client.Encodings
	late      atomic.Bool // the editor has left the removal of a file unanswered
	mute      atomic.Bool // see View.Mute
	asked     atomic.Int32

	mu      sync.Mutex // guards the fields below
	unheard time.Time  // since when a probe is unanswered; zero: none is pending
	closing bool       // begin starts nothing
	seen    seen
	shown   map[string]bool // names of open diffs
	removal chan struct{}   // closed when the last removal of a file is answered; nil before the first
}

// seen is the last known state of the editor.
type seen struct {
	tabs        []editor.Tab
	diagnostics []editor.Diagnostic
	selection   client.Selection
	asking      chan struct{} // closed when the pending question is answered; nil if none is pending
	initialized bool          // the editor reports its selection by itself
	listed      bool          // tabs is set
	old         bool          // the selection was asked for, and may be in a file that was closed
	serial      int           // of the selection, incremented with each
}

// begin runs f in a goroutine that close waits for. It returns false if the link is
// closing.
func (l *link) begin(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return false
	}
	l.work.Go(f)
	return true
}

// close ends the connection and the link's goroutines.
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
	if err == nil || l.unheard.Equal(began) && time.Since(began) < deafAfter { // given up early
		l.unheard = time.Time{}
	}
	return err
}

// lost reports whether the connection has ended.
func (l *link) lost() bool { return l.client.Err() != nil }

// isDeaf reports whether the editor has left a probe unanswered for so long that
// nothing should wait for it.
func (l *link) isDeaf() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.unheard.IsZero() && time.Since(l.unheard) > deafAfter
}

// track records an open diff; the returned function removes it.
func (l *link) track(tab string) (end func()) {
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

// name returns the editor's display name.
func (l *link) name() string { return nameOf(l.from) }

// ours reports whether the editor runs our own extension, which has drafts, details and
// a status.
func (l *link) ours() bool { return l.client.Info().Ours }

// left holds the diffs that may still be open in an editor though nobody waits for
// their answer. It outlives the link, as an editor may still show them after a
// reconnection.
type left struct {
	mu  sync.Mutex
	all []leftDiff
}

// leftDiff is a diff in the editor with the given name.
type leftDiff struct{ editor, tab string }

// maxLeft is the number of diffs remembered.
const maxLeft = 100

func (f *left) add(editor, tab string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, leftDiff{editor, tab})
	if over := len(f.all) - maxLeft; over > 0 {
		f.all = f.all[over:]
	}
}

// take removes and returns the tabs left in an editor.
func (f *left) take(editor string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var tabs []string
	var others []leftDiff
	for _, d := range f.all {
		if d.editor == editor {
			tabs = append(tabs, d.tab)
		} else {
			others = append(others, d)
		}
	}
	f.all = others
	return tabs
}

// patience is how often an editor is asked to close a diff that it does not know: it
// may be about to open it.
const patience = 3

// closeDiff takes a diff off the editor's screen, even if ctx has ended. A diff that
// cannot be closed in time is closed at the next chance; closeDiff does not wait for
// an editor that is deaf. answered means that the editor has answered for the diff,
// and so may have closed it itself.
func (l *link) closeDiff(ctx context.Context, tab string, answered bool) {
	if l.isDeaf() {
		l.leave(tab)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	for try := 1; ; try++ {
		closed, err := l.client.Diffs.Withdraw(ctx, tab)
		switch {
		case err != nil && ctx.Err() != nil, l.client.Err() != nil:
			l.leave(tab)
			return
		case err != nil, closed, answered:
			return
		case try == patience:
			l.leave(tab)
			return
		}
		select {
		case <-time.After(time.Duration(try) * 50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// leave remembers a diff that may still be open. Our own extension takes the same
// question up again on the next link, so that diff must stay.
func (l *link) leave(tab string) {
	if l.client.Err() == nil || !l.ours() {
		l.left.add(l.name(), tab)
	}
}

// tidy closes all diffs before the link ends, including those that could not be closed
// before. It works even if ctx has ended.
func (l *link) tidy(ctx context.Context) {
	if l.client.Err() != nil || l.isDeaf() {
		return
	}
	l.mu.Lock()
	tabs := append(l.left.take(l.name()), slices.Collect(maps.Keys(l.shown))...)
	l.mu.Unlock()
	if len(tabs) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	if l.ours() { // others would close the user's own diffs too
		_, _ = l.client.Diffs.CloseAll(ctx)
		return
	}
	for _, tab := range tabs {
		_ = l.client.Diffs.Close(ctx, tab)
	}
}

// sweep closes the diffs that could not be closed before, on this link or an earlier
// one.
func (l *link) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	for _, tab := range l.left.take(l.name()) {
		if l.client.Diffs.Close(ctx, tab) != nil {
			l.leave(tab)
		}
	}
}

// clear closes the diffs that earlier links left in a newly linked editor. Emacs serves
// one client at a time, so nobody else waits for the diffs that it shows.
func (l *link) clear(ctx context.Context) {
	if l.ours() {
		return
	}
	if l.client.Single() {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		_, _ = l.client.Diffs.CloseAll(ctx) // otherwise they stay, and answer nobody
	}
	l.sweep(ctx)
}

// nameOf returns the editor's display name, safe to show on one line.
func nameOf(c lock.Candidate) string {
	if c.File.Name != "" {
		return sanitize.Line(c.File.Name)
	}
	return fmt.Sprintf("the editor on port %d", c.Port)
}

// Bounds of the parts of a review.
const (
	// callTimeout bounds a call about an open diff.
	callTimeout = 900 * time.Millisecond
	// closeTimeout bounds the closing of a diff that was answered elsewhere: the person who
	// pressed Esc waits for it.
	closeTimeout = 300 * time.Millisecond
	// leaveTimeout bounds the closing of all diffs when the link ends: the program waits for
	// it before it exits.
	leaveTimeout = 250 * time.Millisecond
	// deafAfter is how long a probe may go unanswered before nobody waits for the editor.
	deafAfter = 300 * time.Millisecond
	// fetchTimeout bounds the fetching of a draft, for which the controller waits a second.
	fetchTimeout = 800 * time.Millisecond
	// reconnectWait is how long a question waits for a lost editor if nobody else can answer.
	reconnectWait = 10 * time.Second
)

// Bounds of the questions that tools ask.
const (
	// askTimeout bounds a question that does not wait for language servers.
	askTimeout = 5 * time.Second
	// bufferTimeout bounds the question whether a file is saved, for which an edit waits.
	bufferTimeout = time.Second
)

// within bounds ctx by d, with a cause that is a sentence for people.
func (l *link) within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, &wire.LateError{What: l.name() + " has not answered", After: d})
}
