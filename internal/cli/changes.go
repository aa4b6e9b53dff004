package cli

import (
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/session"
)

// changeLog collects the diffs of what a session has changed. It is safe for
// concurrent use: the loop adds while the screen reads.
type changeLog struct {
	mu    sync.Mutex
	diffs []string
}

func (c *changeLog) take(ev session.Event) {
	ended, ok := ev.(session.CallEnded)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ch := range ended.Result.Changes {
		c.diffs = append(c.diffs, ch.Diff)
	}
}

func (c *changeLog) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.diffs, "")
}

func (c *changeLog) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.diffs = nil
}
