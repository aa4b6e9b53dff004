package stream

import (
	"strings"
	"time"
)

// Thought is the item for a model's completed reasoning.
type Thought struct {
	Text string
	Took time.Duration // from its first piece to its last
}

// thinking collects a model's reasoning. None of it is rendered while it comes, so that a
// frame costs the same however long it is.
type thinking struct {
	text        strings.Builder
	began, last time.Time
}

// push adds a piece that came now.
func (t *thinking) push(piece string, now time.Time) {
	if t.text.Len() == 0 {
		t.began = now
	}
	t.text.WriteString(piece)
	t.last = now
}

// close ends the reasoning and returns it as an item, unless it is blank.
func (t *thinking) close() []any {
	text := strings.TrimSpace(t.text.String())
	took := t.last.Sub(t.began)
	*t = thinking{}
	if text == "" {
		return nil
	}
	return []any{Thought{strings.Clone(text), took}} // a copy without spare capacity, because it is kept
}
