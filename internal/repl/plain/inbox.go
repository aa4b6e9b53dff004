package plain

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// inbox holds input lines in order, with the times of their arrival. It reads the input at
// once, because only then is the time of a line known.
type inbox struct {
	fresh chan struct{} // holds one token after a change
	more  chan struct{} // holds one token to resume an input that has ended

	mu    sync.Mutex // guards the following
	lines []entry
	ended time.Time // when the input ended; zero if it has not
}

type entry struct {
	text string
	at   time.Time
}

var errInterrupted = errors.New("interrupted")

func newInbox() *inbox {
	return &inbox{fresh: make(chan struct{}, 1), more: make(chan struct{}, 1)}
}

// fill reads in until it ends, and again after goOn, until ctx ends.
func (b *inbox) fill(ctx context.Context, in io.Reader) {
	defer crash.Guard()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		b.mu.Lock()
		if line != "" {
			b.lines = append(b.lines, entry{strings.TrimRight(line, "\r\n"), time.Now()})
		}
		if err != nil {
			b.ended = time.Now()
		}
		b.mu.Unlock()
		select {
		case b.fresh <- struct{}{}:
		default: // already signaled
		}
		if err == nil {
			continue
		}
		select {
		case <-b.more:
		case <-ctx.Done():
			return
		}
	}
}

// goOn resumes an input that ended at or after from, and reports whether it did: on a
// terminal, Ctrl+D ends only the present question.
func (b *inbox) goOn(from time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended.IsZero() || b.ended.Before(from) {
		return false
	}
	b.ended = time.Time{}
	b.more <- struct{}{} // never blocks: fill waits for it
	return true
}

// next waits for the first line that arrived at or after from; earlier lines stay. It returns
// io.EOF if there will be none, or errInterrupted if interrupt fires first.
func (b *inbox) next(ctx context.Context, from time.Time, interrupt <-chan struct{}) (entry, error) {
	return b.find(ctx, func(e entry) bool { return !e.at.Before(from) }, interrupt)
}

// find is next for the first line that fits.
func (b *inbox) find(ctx context.Context, fits func(entry) bool, interrupt <-chan struct{}) (entry, error) {
	for {
		if e, ok, err := b.take(fits); ok || err != nil {
			return e, err
		}
		select {
		case <-b.fresh:
		case <-interrupt:
			return entry{}, errInterrupted
		case <-ctx.Done():
			return entry{}, ctx.Err()
		}
	}
}

// take is find without waiting; ok is false if there is no such line yet.
func (b *inbox) take(fits func(entry) bool) (e entry, ok bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, e := range b.lines {
		if fits(e) {
			b.lines = append(b.lines[:i:i], b.lines[i+1:]...)
			return e, true, nil
		}
	}
	if !b.ended.IsZero() {
		return entry{}, false, io.EOF
	}
	return entry{}, false, nil
}

// keep puts back a line, from now on only for a prompt.
func (b *inbox) keep(e entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.lines, func(l entry) bool { return !l.at.Before(e.at) })
	if i < 0 {
		i = len(b.lines)
	}
	b.lines = slices.Insert(b.lines, i, entry{text: e.text})
}

// drop discards waiting lines and returns their number.
func (b *inbox) drop() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.lines)
	b.lines = nil
	return n
}
