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
)

// Report returns the findings on path, or on all files if it is empty, after the
// editor has waited for its language servers, for wait at most. known is false if it
// cannot tell: then none is not the same as clean. An editor other than ours cannot
// tell of a file that it does not have open, or that it has not read again since it
// was written. editor.ErrNone says that no editor is linked.
func (v *View) Report(ctx context.Context, path string, wait time.Duration) (found []editor.Diagnostic, known bool, err error) {
	l, _ := v.now.get()
	if l == nil {
		return nil, false, editor.ErrNone
	}
	ctx, cancel := l.within(ctx, asking+wait+time.Second)
	defer cancel()
	found, known, err = l.client.Documents.Diagnostics(ctx, path, wait)
	if known && path != "" && !l.ours() {
		known = !v.writes.stale(ctx, l, path) && (len(found) > 0 || l.open(ctx, path))
	}
	return v.findings(found), known, err
}

// open reports whether the editor says that it has a file open.
func (l *link) open(ctx context.Context, path string) bool {
	ctx, cancel := context.WithTimeout(ctx, buffering)
	defer cancel()
	buf, err := l.client.Documents.Buffer(ctx, path, false)
	return err == nil && buf.Open
}

// Unsaved says whether the editor holds changes of a file that are not on disk.
// An editor that does not say within a second is taken to hold none; so is one
// that is still being connected then. name is what people call the editor.
func (v *View) Unsaved(ctx context.Context, path string) (name string, unsaved bool) {
	ctx, cancel := context.WithTimeout(ctx, buffering)
	defer cancel()
	l := v.now.soon(ctx)
	if l == nil {
		return "", false
	}
	return l.name(), l.unsaved(ctx, path)
}

// unsaved says whether the editor holds changes of a file that are not on disk.
func (l *link) unsaved(ctx context.Context, path string) bool {
	ctx, cancel := context.WithTimeout(ctx, buffering)
	defer cancel()
	buf, err := l.client.Documents.Buffer(ctx, path, false)
	if errors.Is(err, client.ErrUnsupported) || err != nil && l.client.Single() {
		return lockedByEmacs(path)
	}
	return err == nil && buf.Dirty
}

// lockedByEmacs reports whether an Emacs that runs holds unsaved changes of a file:
// it keeps a link beside it then, .#NAME, to user@host.pid. Not every plugin of its
// can say so.
func lockedByEmacs(path string) bool {
	dir, name := filepath.Split(path)
	target, err := os.Readlink(filepath.Join(dir, ".#"+name))
	if err != nil {
		return false
	}
	who, _, _ := strings.Cut(target, ":") // the time of the start
	at := strings.LastIndex(who, "@")
	dot := strings.LastIndex(who, ".")
	pid, err := strconv.Atoi(who[dot+1:])
	if at < 0 || dot < at || err != nil || pid <= 0 {
		return false
	}
	if host, err := os.Hostname(); err != nil || host != who[at+1:dot] {
		return true // on another machine, where nobody can tell
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	return !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// Encoding returns the encoding in which our own editor reads a file, by the name
// that golang.org/x/text knows; empty where it does not say so at once.
func (v *View) Encoding(path string) string {
	l, _ := v.now.get()
	if l == nil || !l.ours() {
		return ""
	}
	return l.encodings.Of(path)
}

// Save has the editor save a file. One that may still hold the text from before the
// last write is not asked to: it would put that text back.
func (v *View) Save(ctx context.Context, path string) error {
	l, _ := v.now.get()
	if l == nil {
		return editor.ErrNone
	}
	ctx, cancel := l.within(ctx, asking)
	defer cancel()
	if v.writes.stale(ctx, l, path) {
		return fmt.Errorf("%s may not have read it since the last edit was written, and saving could put the old text back: save it there by hand, or discard what is there", l.name())
	}
	err := l.client.Documents.Save(ctx, path)
	if errors.Is(err, client.ErrUnsupported) {
		if !l.unsaved(ctx, path) {
			return nil // a person has done so
		}
		return fmt.Errorf("%s cannot be asked to: save it there by hand", l.name())
	}
	return err
}

// Wrote takes note of a write, and has the editor read the file again where it can
// be asked to.
func (v *View) Wrote(ctx context.Context, done editor.Write) {
	l, _ := v.now.get()
	if l == nil || l.ours() {
		v.writes.forget(done.Path)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, buffering)
	defer cancel()
	v.writes.put(l, done, l.client.Documents.Reload(ctx, done.Path))
}

// Lost says why a file may no longer hold what was written last, given its text;
// "" if it does, or if that is not known. It says so once.
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
