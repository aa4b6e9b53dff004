package ide

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/regularfile"
)

// Report returns the diagnostics of path, or of all files if path is empty, after the
// editor has waited at most wait for its language servers. If known is false, an empty
// list does not mean that there are no problems: an editor other than ours knows
// nothing of files that it does not have open or has not read again since the last
// write. The error is editor.ErrNone if no editor is linked.
//
// The question goes on after ctx has ended. Unless it is answered then, Mute returns true.
func (v *View) Report(ctx context.Context, path string, wait time.Duration) (found []editor.Diagnostic, known bool, err error) {
	l, _ := v.links.get()
	if l == nil {
		return nil, false, editor.ErrNone
	}
	ctx, cancel := l.within(ctx, askTimeout+wait+time.Second)
	defer cancel()
	muted := l.mute.Load() // then it may have been answered in the meantime
	select {
	case r := <-l.diagnose(ctx, path, wait):
		found, known, err = r.found, r.known, r.err
	case <-ctx.Done():
		if wait > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) && !muted {
			l.mute.Store(true)
		}
		return nil, false, context.Cause(ctx)
	}
	if known && path != "" && !l.ours() {
		known = !v.writes.stale(ctx, l, path) && (len(found) > 0 || l.open(ctx, path))
	}
	return v.findings(found), known, err
}

// Mute reports whether the linked editor has left a question for diagnostics unanswered, and answered
// none since.
func (v *View) Mute() bool {
	l, _ := v.links.get()
	return l != nil && l.mute.Load()
}

// told is an answer about diagnostics.
type told struct {
	found []editor.Diagnostic
	known bool
	err   error
}

// mostAsked is how many questions for diagnostics wait for an answer at once.
const mostAsked = 4

// diagnose asks for the diagnostics of path, which some editors never answer for a file that is not
// shown. The answer, if there is one, comes on the channel.
func (l *link) diagnose(ctx context.Context, path string, wait time.Duration) <-chan told {
	out := make(chan told, 1)
	if l.asked.Add(1) > mostAsked {
		l.asked.Add(-1)
		return out
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout+wait)
	begun := l.begin(func() {
		defer cancel()
		var r told
		r.found, r.known, r.err = l.client.Documents.Diagnostics(ctx, path, wait)
		switch {
		case r.err == nil:
			l.mute.Store(false)
		case ctx.Err() != nil:
			r.err = nil // not known
		}
		l.asked.Add(-1)
		out <- r
	})
	if !begun {
		cancel()
		out <- told{err: editor.ErrNone}
	}
	return out
}

// open reports whether the editor has a file open.
func (l *link) open(ctx context.Context, path string) bool {
	ctx, cancel := context.WithTimeout(ctx, bufferTimeout)
	defer cancel()
	buf, err := l.client.Documents.Buffer(ctx, path, false)
	return err == nil && buf.Open
}

// Unsaved reports whether the editor holds changes of a file that are not on disk, and
// the editor's display name. An editor that does not answer or is not linked within a
// second counts as holding none.
func (v *View) Unsaved(ctx context.Context, path string) (name string, unsaved bool) {
	ctx, cancel := context.WithTimeout(ctx, bufferTimeout)
	defer cancel()
	l := v.links.soon(ctx)
	if l == nil {
		return "", false
	}
	unsaved, _ = l.unsaved(ctx, path)
	return l.name(), unsaved
}

// CheckSaved returns an error if the editor holds changes of a file that are not on disk,
// or an editor.SilentError if it is linked and gives no usable answer within a second.
func (v *View) CheckSaved(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, bufferTimeout)
	defer cancel()
	for {
		l := v.links.soon(ctx)
		if l == nil {
			return nil
		}
		switch unsaved, err := l.unsaved(ctx, path); {
		case unsaved:
			return fmt.Errorf("it has unsaved changes in %s: save or revert it there first", l.name())
		case err != nil && !l.lost():
			return editor.SilentError(l.name())
		case err == nil:
			return nil
		}
	}
}

// unsaved reports whether the editor holds changes of a file that are not on disk.
func (l *link) unsaved(ctx context.Context, path string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, bufferTimeout)
	defer cancel()
	buf, err := l.client.Documents.Buffer(ctx, path, false)
	if errors.Is(err, client.ErrUnsupported) || err != nil && l.client.Single() {
		return lockedByEmacs(path), nil
	}
	return buf.Dirty, err
}

// maxEmacsLock bounds the text of a lock of Emacs, which names a user, a host and two numbers.
const maxEmacsLock = 8 << 10

// lockedByEmacs reports whether a running Emacs holds unsaved changes of a file: not
// every plugin of Emacs can be asked. Emacs then keeps a link .#NAME to user@host.pid
// beside the file; on Windows, and on file systems without links, a file with that text.
func lockedByEmacs(path string) bool {
	dir, name := filepath.Split(path)
	lock := filepath.Join(dir, ".#"+name)
	target, err := os.Readlink(lock)
	if err != nil {
		text, err := regularfile.ReadFile(lock, maxEmacsLock)
		if err != nil {
			return false
		}
		target = string(text)
	}
	who, _, _ := strings.Cut(target, ":") // the time of the start
	at := strings.LastIndex(who, "@")
	dot := strings.LastIndex(who, ".")
	pid, err := strconv.Atoi(who[dot+1:])
	if at < 0 || dot < at || err != nil || pid <= 0 {
		return false
	}
	if host, err := os.Hostname(); err != nil || host != who[at+1:dot] {
		return true // another machine, whose processes are unknown here
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	return !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// Encoding returns the name, as golang.org/x/text knows it, of the encoding in which
// our own editor reads a file. It is empty if the editor has not reported it yet.
func (v *View) Encoding(path string) string {
	l, _ := v.links.get()
	if l == nil || !l.ours() {
		return ""
	}
	return l.encodings.Of(path)
}

// Save has the editor save a file. It refuses if the editor may still hold the text
// from before the last write, and so would put that text back.
func (v *View) Save(ctx context.Context, path string) error {
	l, _ := v.links.get()
	if l == nil {
		return editor.ErrNone
	}
	ctx, cancel := l.within(ctx, askTimeout)
	defer cancel()
	if v.writes.stale(ctx, l, path) {
		return fmt.Errorf("%s may not have read it since the last edit was written, and saving could put the old text back: save it there by hand, or discard what is there", l.name())
	}
	err := l.client.Documents.Save(ctx, path)
	if errors.Is(err, client.ErrUnsupported) {
		if unsaved, _ := l.unsaved(ctx, path); !unsaved {
			return nil // a person has saved it
		}
		return fmt.Errorf("%s cannot be asked to: save it there by hand", l.name())
	}
	return err
}

// Wrote records a write, or tells about one that failed. It has our own editor close the tabs of a file that is gone, and
// another that can do so read the file again.
func (v *View) Wrote(ctx context.Context, done editor.Write) {
	l, _ := v.links.get()
	if done.Failed != "" {
		l.notWritten(ctx, done)
		return
	}
	if l == nil {
		v.writes.forget(done.Path)
		return
	}
	if l.ours() {
		v.writes.forget(done.Path)
		if done.Removed {
			l.removed(ctx, done)
		}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, bufferTimeout)
	defer cancel()
	v.writes.put(l, done, l.client.Documents.Reload(ctx, done.Path))
}

// notWritten tells the editor in which a change was approved why it was not written: the
// click there looks as if it was.
func (l *link) notWritten(ctx context.Context, done editor.Write) {
	if l == nil || !l.ours() || done.By != l.name() {
		return
	}
	l.begin(func() {
		ctx, cancel := l.within(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		_ = l.client.Documents.NotWritten(ctx, done.Path, done.Failed) // the terminal says it too
	})
}

// removed has the editor close the tabs of a file that is gone, and waits until it has,
// for a second at most. It does not wait for an editor that left the last such call
// unanswered: a stuck one holds a turn once, not at each file. The next removal is not sent
// before the editor has answered or askTimeout is over: a file may be moved twice.
func (l *link) removed(ctx context.Context, done editor.Write) {
	closed := make(chan struct{})
	earlier := l.inLine(closed)
	begun := l.begin(func() {
		defer close(closed)
		ctx := context.WithoutCancel(ctx) // the turn may end first
		l.awaitRemoval(earlier)
		ctx, cancel := l.within(ctx, askTimeout)
		defer cancel()
		err := l.client.Documents.Removed(ctx, done.Path, done.To) // an older one keeps the tabs
		l.late.Store(err != nil && ctx.Err() != nil)
	})
	if !begun || l.late.Load() {
		return
	}
	second, cancel := context.WithTimeout(ctx, bufferTimeout)
	defer cancel()
	select {
	case <-closed:
	case <-second.Done():
		l.late.Store(true)
	}
}

// inLine records that a removal ends when closed is, and returns the channel of the removal
// before; nil for the first.
func (l *link) inLine(closed chan struct{}) (earlier chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	earlier, l.removal = l.removal, closed
	return earlier
}

// awaitRemoval waits for the end of an earlier removal, for askTimeout at most.
func (l *link) awaitRemoval(earlier chan struct{}) {
	if earlier == nil {
		return
	}
	late := time.NewTimer(askTimeout)
	defer late.Stop()
	select {
	case <-earlier:
	case <-l.client.Done():
	case <-late.C:
	}
}

// Lost explains, once, why a file may no longer hold the last write, given its text. It
// returns "" if the file does hold it, or if that is unknown.
func (v *View) Lost(path, text string) string {
	done, ok := v.writes.get(path)
	if !ok || text == done.After {
		return ""
	}
	seed := maphash.MakeSeed()
	now := newLines(seed, text)
	if text != done.Before && now.like(newLines(seed, done.Before)) <= now.like(newLines(seed, done.After)) {
		return ""
	}
	v.writes.forget(path)
	return fmt.Sprintf("The edit that was written last is no longer in the file: it holds the text from before. %s may have saved the text that it still had.", done.link.name())
}
