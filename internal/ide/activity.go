package ide

import (
	"context"
	"sync"
	"time"
)

// telltale bounds one message about what this side is doing.
const telltale = 2 * time.Second

// activity is what this side is doing, for the editor's status bar.
type activity struct {
	mu      sync.Mutex
	working bool
	asking  int           // questions that stand
	changed chan struct{} // closed when state is another one
}

// state is the word for it.
func (a *activity) state() (string, <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.asking > 0:
		return "waiting", a.changed
	case a.working:
		return "working", a.changed
	}
	return "idle", a.changed
}

func (a *activity) change(f func(a *activity)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f(a)
	close(a.changed)
	a.changed = make(chan struct{})
}

// Working says whether the model is at work: our own extension shows it. It does
// not block.
func (b *Bridge) Working(on bool) { b.doing.change(func(a *activity) { a.working = on }) }

// show tells our own extension what this side is doing, until the link ends.
func (a *activity) show(ctx context.Context, l *link) {
	told := ""
	for {
		now, changed := a.state()
		if now != told {
			bounded, cancel := context.WithTimeout(ctx, telltale)
			if l.client.SetStatus(bounded, now, "", "") == nil {
				told = now
			}
			cancel()
		}
		select {
		case <-changed:
		case <-l.client.Done():
			return
		}
	}
}
