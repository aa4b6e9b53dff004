// Package stream renders streaming text outside the interface's goroutine. It guarantees that
// the interface receives everything in the order of the inbox, text at most once per frame,
// and that a flood of text never delays a key: a frame of many lines arrives as several
// updates.
package stream

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/repl/markdown"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/session"
)

const (
	// frame is the minimum time between two frames of streaming text.
	frame = 33 * time.Millisecond
	// slice is the number of bytes rendered between looks at the clock.
	slice = 4 << 10
	// batch is the maximum number of finished lines in an update: keys are handled between
	// updates.
	batch = 128
	// tailLines bounds the unfinished text on the screen.
	tailLines = 12
)

// Update carries finished lines, then the live end of the text, then items to handle in
// order.
type Update struct {
	Reprint Reprint // print this again first: Lines restarts the answer
	Lines   []string
	Tail    []string
	Items   []any
	Bytes   int // received of the answer, including its reasoning
	// Thinking reports whether the newest piece of the answer is reasoning.
	Thinking bool
}

// Answer is the item for a completed answer of the model, in Markdown.
type Answer struct{ Text string }

// Options configures Run.
type Options struct {
	Look theme.Look
	Send func(Update)
	Now  func() time.Time
}

// Run renders the items of the inbox until ctx ends. A theme.Look among them applies to all
// later text.
func Run(ctx context.Context, inbox *Inbox, opt Options) {
	r := renderer{inbox: inbox, send: opt.Send, now: opt.Now, look: opt.Look}
	r.run(ctx)
}

// renderer is the state of Run.
type renderer struct {
	inbox *Inbox
	send  func(Update)
	now   func() time.Time

	look   theme.Look
	md     *markdown.Stream // nil between answers
	answer strings.Builder  // the answer that md renders
	think  thinking

	thinking bool // the newest piece is reasoning

	bytes  int      // of the answer so far
	lines  []string // finished, not yet sent
	dirty  bool     // the tail has changed since the last update
	sentAt time.Time
}

// run handles items until ctx ends.
func (r *renderer) run(ctx context.Context) {
	defer r.inbox.close()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.inbox.wake:
		case <-timer.C:
		}
		for _, item := range r.inbox.take() {
			r.apply(item)
		}
		if wait, ok := r.flush(); ok {
			timer.Reset(wait)
		}
	}
}

// flush sends pending output, or returns how long to wait for the next frame.
func (r *renderer) flush() (time.Duration, bool) {
	if !r.dirty && len(r.lines) == 0 {
		return 0, false
	}
	if wait := frame - r.now().Sub(r.sentAt); wait > 0 {
		return wait, true
	}
	r.post()
	return 0, false
}

// post sends the finished lines, the tail and items.
func (r *renderer) post(items ...any) {
	for len(r.lines) > batch {
		r.send(Update{Lines: r.lines[:batch:batch]})
		r.lines = r.lines[batch:]
	}
	r.send(Update{Lines: r.lines, Tail: r.tail(), Items: items, Bytes: r.bytes, Thinking: r.thinking})
	r.lines, r.dirty, r.sentAt = nil, false, r.now()
}

func (r *renderer) tail() []string {
	if r.md != nil {
		return r.md.Tail(tailLines)
	}
	return nil
}

func (r *renderer) apply(item any) {
	switch it := item.(type) {
	case *textRun:
		r.text(it.text)
	case session.ReasoningDelta:
		r.think.push(it.Text, r.now())
		r.bytes += len(it.Text)
		r.thinking, r.dirty = true, true
	case session.Thinking:
		r.thinking, r.dirty = true, true
	case theme.Look:
		r.look = it
		if r.md != nil {
			r.md.Resize(it.Width)
		}
		r.dirty = true
	case Aside:
		r.post(it.Item)
	case Reprint:
		r.reprint(it)
	case session.Retrying:
		void := slices.DeleteFunc(r.finish(), func(item any) bool { _, is := item.(Answer); return is }) // it is not to keep
		r.bytes = 0
		r.post(append(void, item)...)
	default:
		r.post(append(r.finish(), item)...)
	}
}

// text renders text in slices and sends frames in between.
func (r *renderer) text(text []byte) {
	r.thinking = false
	if r.md == nil {
		if thought := r.think.close(); thought != nil {
			r.post(thought...)
		}
		r.md = markdown.New(markdown.Options{Width: r.look.Width, NoColor: r.look.NoColor, Wrapped: theme.Wrapped})
		r.lines = append(r.lines, "")
	}
	r.answer.Write(text)
	r.bytes += len(text)
	for len(text) > 0 {
		n := cut(text, slice)
		r.lines = append(r.lines, r.md.Push(string(text[:n]))...)
		text, r.dirty = text[n:], true
		r.flush()
		runtime.Gosched() // let the keyboard run even if all processors are busy
	}
}

// reprint renders the current answer again.
func (r *renderer) reprint(what Reprint) {
	if len(r.lines) > 0 { // some Reprints ignore the answer's lines: send pending ones first
		r.send(Update{Lines: r.lines, Tail: r.tail()})
	}
	r.lines = nil
	if r.md != nil {
		r.md = markdown.New(markdown.Options{Width: r.look.Width, NoColor: r.look.NoColor, Wrapped: theme.Wrapped})
		r.lines = append([]string{""}, r.md.Push(r.answer.String())...)
	}
	r.send(Update{Reprint: what, Lines: r.lines, Tail: r.tail()})
	r.lines, r.dirty, r.sentAt = nil, false, r.now()
}

// cut returns n, or the length of text if smaller, moved back to the start of a character.
func cut(text []byte, n int) int {
	if len(text) <= n {
		return len(text)
	}
	for n > 1 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// finish ends the streaming text and reasoning and returns them as items.
func (r *renderer) finish() []any {
	r.thinking = false
	thought := r.think.close()
	if thought != nil {
		r.bytes = 0
	}
	if r.md == nil {
		return thought
	}
	r.lines = append(r.lines, r.md.Close()...)
	r.md = nil
	answer := Answer{strings.Clone(r.answer.String())} // a copy without spare capacity, because it is kept
	r.answer.Reset()
	r.bytes = 0
	return append([]any{answer}, thought...) // reasoning amid the text, if any
}
