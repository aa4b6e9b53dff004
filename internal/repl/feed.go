package repl

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/repl/markdown"
	"github.com/bb2d0cf4/agent/internal/session"
)

const (
	// frame is the shortest time between two drawings of streaming text.
	frame = 33 * time.Millisecond
	// slice is how much text is rendered before a look at the clock.
	slice = 4 << 10
	// tailLines bounds the unfinished text that is drawn live.
	tailLines = 12
)

// update is what the feed hands to the model: lines that are finished, then the
// live end of the text, then items that the model handles in order.
type update struct {
	lines []string
	tail  []string
	items []any
}

// feed renders streaming text in a goroutine of its own, so that a flood of it
// never delays a key. It owns the markdown renderer.
type feed struct {
	box  *mailbox
	send func(update)
	now  func() time.Time

	opt   markdown.Options
	md    *markdown.Stream // nil between answers
	think thinking

	lines  []string // finished, not sent yet
	dirty  bool     // the tail changed since it was sent
	sentAt time.Time
}

// run serves the mailbox until ctx ends.
func (f *feed) run(ctx context.Context) {
	defer f.box.close()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.box.wake:
		case <-timer.C:
		}
		for _, item := range f.box.take() {
			f.apply(item)
		}
		if wait, ok := f.flush(); ok {
			timer.Reset(wait)
		}
	}
}

// flush sends what is waiting, or says how long to wait for the next frame.
func (f *feed) flush() (time.Duration, bool) {
	if !f.dirty && len(f.lines) == 0 {
		return 0, false
	}
	if wait := frame - f.now().Sub(f.sentAt); wait > 0 {
		return wait, true
	}
	f.post()
	return 0, false
}

// post sends the finished lines and the tail, and items for the model.
func (f *feed) post(items ...any) {
	f.send(update{lines: f.lines, tail: f.tail(), items: items})
	f.lines, f.dirty, f.sentAt = nil, false, f.now()
}

func (f *feed) tail() []string {
	if f.md != nil {
		return f.md.Tail(tailLines)
	}
	return f.think.tail(f.opt)
}

func (f *feed) apply(item any) {
	switch it := item.(type) {
	case *textRun:
		f.text(it.text)
	case session.ReasoningDelta:
		f.lines = append(f.lines, f.think.push(it.Text, f.opt)...)
		f.dirty = true
	case resized:
		f.opt.Width = it.width
		if f.md != nil {
			f.md.Resize(it.width)
		}
		f.dirty = true
	case themed:
		f.opt.Dark = it.dark
	default:
		f.finish()
		f.post(item)
	}
}

// text renders a run of text in slices; under a flood it sends a frame between.
func (f *feed) text(text []byte) {
	f.lines = append(f.lines, f.think.close(f.opt)...)
	if f.md == nil {
		f.md = markdown.New(f.opt)
		f.lines = append(f.lines, "")
	}
	for len(text) > 0 {
		n := cut(text, slice)
		f.lines = append(f.lines, f.md.Push(string(text[:n]))...)
		text, f.dirty = text[n:], true
		f.flush()
	}
}

// cut returns at most n, moved back to the start of a character.
func cut(text []byte, n int) int {
	if len(text) <= n {
		return len(text)
	}
	for n > 1 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// finish ends the text that is being rendered.
func (f *feed) finish() {
	f.lines = append(f.lines, f.think.close(f.opt)...)
	if f.md != nil {
		f.lines = append(f.lines, f.md.Close()...)
		f.md = nil
	}
}
