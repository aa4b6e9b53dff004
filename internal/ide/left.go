package ide

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// left are the diffs that may still be open in an editor though nobody waits for
// their answer. They outlive the link: an editor may show them after a reconnection.
type left struct {
	mu  sync.Mutex
	all []leftDiff
}

// leftDiff is a diff in the editor with the given name.
type leftDiff struct{ editor, tab string }

// mostLeft is how many diffs are remembered.
const mostLeft = 100

func (f *left) add(editor, tab string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, leftDiff{editor, tab})
	if over := len(f.all) - mostLeft; over > 0 {
		f.all = f.all[over:]
	}
}

// take returns the tabs that are left in an editor, and forgets them.
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

// patience is how often an editor is asked to close a diff that it does not know
// of: it may be about to open it.
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
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

// leave remembers a diff that may still be open there. Our own extension takes the
// same question up again on the next link: that diff must stay.
func (l *link) leave(tab string) {
	if l.client.Err() == nil || !l.ours() {
		l.left.add(l.name(), tab)
	}
}

// tidy closes what is open, and what could not be closed before, once and for all: the
// link ends. It works also when ctx has ended.
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaving)
	defer cancel()
	if l.ours() { // others would close the user's own diffs too
		_, _ = l.client.Diffs.CloseAll(ctx)
		return
	}
	for _, tab := range tabs {
		_ = l.client.Diffs.Close(ctx, tab)
	}
}

// sweep closes what could not be closed before, on this link or an earlier one.
func (l *link) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, withdrawing)
	defer cancel()
	for _, tab := range l.left.take(l.name()) {
		if l.client.Diffs.Close(ctx, tab) != nil {
			l.leave(tab)
		}
	}
}

// clear takes over an editor that has just been linked: it closes the diffs of
// earlier links. Emacs answers for one client alone, so it holds none that
// somebody else waits for.
func (l *link) clear(ctx context.Context) {
	if l.ours() {
		return
	}
	if l.client.Single() {
		ctx, cancel := context.WithTimeout(ctx, withdrawing)
		defer cancel()
		_, _ = l.client.Diffs.CloseAll(ctx) // else they stay, and answer nobody
	}
	l.sweep(ctx)
}
