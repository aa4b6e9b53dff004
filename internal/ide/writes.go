package ide

import (
	"context"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/editor"
)

// writes holds the last writes to files while an editor other than ours was linked:
// such an editor may keep the text from before, and save it later.
type writes struct {
	mu  sync.Mutex
	all map[string]write
}

type write struct {
	editor.Write
	link *link
	// reread is set once the editor has read the file again.
	reread bool
}

// mostWrites is the number of files remembered.
const mostWrites = 200

func (w *writes) put(l *link, done editor.Write, reread bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil || len(w.all) >= mostWrites {
		w.all = map[string]write{}
	}
	w.all[done.Path] = write{done, l, reread}
}

func (w *writes) forget(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, path)
}

func (w *writes) get(path string) (write, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	done, ok := w.all[path]
	return done, ok
}

// stale reports whether the editor of l may hold the text of a file from before the
// last write. The editor's number of lines can rule that out.
func (w *writes) stale(ctx context.Context, l *link, path string) bool {
	done, ok := w.get(path)
	if !ok || done.link != l || done.reread {
		return false
	}
	was, is := lineCount(done.Before), lineCount(done.After)
	if was == is {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, bufferTimeout)
	defer cancel()
	if l.client.Documents.Lines(ctx, path) != is {
		return true
	}
	w.put(l, done.Write, true)
	return false
}

// lineCount returns the number of lines as editors count them.
func lineCount(s string) int {
	n := strings.Count(s, "\n")
	if s == "" || !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}
