package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/editor"
)

// Bounds of what is told late.
const (
	lateLimit   = 200 * time.Millisecond // for one file at one result
	lateResults = 8                      // after which a file is forgotten
	lateFiles   = 16
)

// late remembers the files that were edited, with the findings that the model
// knows of, and tells those that come after the result of the edit.
type late struct {
	w     writer
	files []lateFile
}

type lateFile struct {
	path  string
	known reported // what the model knows of
	left  int      // results
	fresh bool     // its own result is not out yet
}

// watch takes a file up whose edit is being answered. known is what the model knows
// of its findings then.
func (l *late) watch(path string, known reported) {
	l.files = slices.DeleteFunc(l.files, func(f lateFile) bool { return f.path == path })
	l.files = append(l.files, lateFile{path: path, known: known, left: lateResults, fresh: true})
	if len(l.files) > lateFiles {
		l.files = l.files[1:]
	}
}

// base returns what the model knows of a file's findings: otherwise, if nothing was
// told of it lately.
func (l *late) base(path string, otherwise reported) reported {
	for _, f := range l.files {
		if f.path == path {
			return f.known
		}
	}
	return otherwise
}

// news tells what has come since the results before this one.
func (l *late) news(ctx context.Context) string {
	var told strings.Builder
	var kept []lateFile
	for _, f := range l.files {
		if f.fresh {
			f.fresh = false
			kept = append(kept, f)
			continue
		}
		now := l.w.report(ctx, f.path, 0, lateLimit)
		if now.err != nil {
			continue // the editor is gone, or too slow to be asked each time
		}
		if now.known {
			told.WriteString(l.since(f, now))
			f.known = now
		}
		if f.left--; f.left > 0 {
			kept = append(kept, f)
		}
	}
	l.files = kept
	return told.String()
}

func (l *late) since(f lateFile, now reported) string {
	name := f.path
	if _, rel, err := l.w.Root.Resolve(f.path); err == nil {
		name = rel
	}
	found, what := now.all, "Diagnostics of %s now (those before its edit are not known)"
	if f.known.known {
		found, what = editor.NewSince(f.known.all, now.all), "New diagnostics of %s, which came after its edit was answered"
	}
	return l.w.list(fmt.Sprintf(what, name), found)
}
