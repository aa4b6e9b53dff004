// Package feed renders streaming text beside the interface. It guarantees that
// everything reaches the interface in the order in which it was put into the box,
// that text is handed on at most once a frame however it comes, and that a flood of
// it never delays a key: a frame of many lines comes in several updates.
package feed

import (
	"context"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/repl/markdown"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/session"
)

const (
	// frame is the shortest time between two drawings of streaming text.
	frame = 33 * time.Millisecond
	// slice is how much text is rendered before a look at the clock.
	slice = 4 << 10
	// batch is how many finished lines one update holds: what was typed is served
	// between two of them.
	batch = 128
	// tailLines bounds the unfinished text that is drawn live.
	tailLines = 12
)

// Update is what the interface is handed: lines that are finished, then the live
// end of the text, then items that are to be handled in order.
type Update struct {
	Again Again // what to print again first: Lines begin the answer anew
	Lines []string
	Tail  []string
	Items []any
	Bytes int // of the answer, its reasoning included, that have come
}

// Answer is the item for an answer of the model's that has ended, in Markdown.
type Answer struct{ Text string }

// Options configures Run.
type Options struct {
	Look theme.Look
	Send func(Update)
	Now  func() time.Time
}

// Run renders what is put into box until ctx ends. A theme.Look that is put there
// is how the text looks from then on.
func Run(ctx context.Context, box *Box, opt Options) {
	f := feed{box: box, send: opt.Send, now: opt.Now, look: opt.Look}
	f.run(ctx)
}

// feed is the state of Run. It owns the Markdown renderer.
type feed struct {
	box  *Box
	send func(Update)
	now  func() time.Time

	look  theme.Look
	md    *markdown.Stream // nil between answers
	said  strings.Builder  // the answer that md renders
	think thinking

	bytes  int      // of the answer, so far
	lines  []string // finished, not sent yet
	dirty  bool     // the tail changed since it was sent
	sentAt time.Time
}

// run serves the box until ctx ends.
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
	for len(f.lines) > batch {
		f.send(Update{Lines: f.lines[:batch:batch]})
		f.lines = f.lines[batch:]
	}
	f.send(Update{Lines: f.lines, Tail: f.tail(), Items: items, Bytes: f.bytes})
	f.lines, f.dirty, f.sentAt = nil, false, f.now()
}

func (f *feed) tail() []string {
	if f.md != nil {
		return f.md.Tail(tailLines)
	}
	return f.think.tail(f.look)
}

func (f *feed) apply(item any) {
	switch it := item.(type) {
	case *textRun:
		f.text(it.text)
	case session.ReasoningDelta:
		f.lines = append(f.lines, f.think.push(it.Text, f.look)...)
		f.bytes += len(it.Text)
		f.dirty = true
	case theme.Look:
		f.look = it
		if f.md != nil {
			f.md.Resize(it.Width)
		}
		f.dirty = true
	case Aside:
		f.post(it.Item)
	case Again:
		f.again(it)
	default:
		f.post(append(f.finish(), item)...)
	}
}

// text renders a run of text in slices; under a flood it sends a frame between.
func (f *feed) text(text []byte) {
	f.lines = append(f.lines, f.think.close(f.look)...)
	if f.md == nil {
		f.md = markdown.New(markdown.Options{Width: f.look.Width, NoColor: f.look.NoColor, Wrapped: theme.Wrapped})
		f.lines = append(f.lines, "")
	}
	f.said.Write(text)
	f.bytes += len(text)
	for len(text) > 0 {
		n := cut(text, slice)
		f.lines = append(f.lines, f.md.Push(string(text[:n]))...)
		text, f.dirty = text[n:], true
		f.flush()
		runtime.Gosched() // to the keyboard, where this keeps all processors busy
	}
}

// again renders anew what has come of the answer.
func (f *feed) again(what Again) {
	if len(f.lines) > 0 { // whoever has no use for the rest has them
		f.send(Update{Lines: f.lines, Tail: f.tail()})
	}
	f.lines = nil
	if f.md != nil {
		f.md = markdown.New(markdown.Options{Width: f.look.Width, NoColor: f.look.NoColor, Wrapped: theme.Wrapped})
		f.lines = append([]string{""}, f.md.Push(f.said.String())...)
	}
	f.send(Update{Again: what, Lines: f.lines, Tail: f.tail()})
	f.lines, f.dirty, f.sentAt = nil, false, f.now()
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

// finish ends the text that is being rendered, and returns it as an item.
func (f *feed) finish() []any {
	f.lines = append(f.lines, f.think.close(f.look)...)
	if f.md == nil {
		return nil
	}
	f.lines = append(f.lines, f.md.Close()...)
	f.md = nil
	said := Answer{strings.Clone(f.said.String())} // which is kept: without the room it has grown into
	f.said.Reset()
	f.bytes = 0
	return []any{said}
}
