package plain

import (
	"fmt"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
)

// thought collects a model's reasoning.
type thought struct {
	text        strings.Builder
	began, last time.Time
}

// think collects the reasoning in ev. Any other event ends the reasoning, and one line of
// it is printed.
func (u *UI) think(ev session.Event) {
	u.mu.Lock()
	defer u.mu.Unlock()
	t := &u.thought
	if ev, ok := ev.(session.ReasoningDelta); ok {
		t.last = u.now()
		if t.text.Len() == 0 {
			t.began = t.last
		}
		t.text.WriteString(ev.Text)
		return
	}
	if t.text.Len() == 0 {
		return
	}
	if short, ok := theme.Shorten(t.text.String()); ok {
		u.write(fmt.Sprintf("%s%s (%s, about %s tokens)\n", u.opt.label("~ ", "thought"),
			sanitize.Line(short.Line), theme.Seconds(t.last.Sub(t.began)), theme.Count(short.Tokens)))
	}
	*t = thought{}
}
