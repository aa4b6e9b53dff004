package plain

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// inbox keeps the lines of the input in order, with the times at which they came.
// The input is read at once whatever goes on, for only so it is known when a line
// was entered.
type inbox struct {
	fresh chan struct{} // holds one token after a change

	mu    sync.Mutex // guards what follows
	lines []entry
	ended bool
}

type entry struct {
	text string
	at   time.Time
}

var errInterrupted = errors.New("interrupted")

func newInbox() *inbox { return &inbox{fresh: make(chan struct{}, 1)} }

// fill reads in until it ends.
func (b *inbox) fill(in io.Reader) {
	defer crash.Guard()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		b.mu.Lock()
		if line != "" {
			b.lines = append(b.lines, entry{strings.TrimRight(line, "\r\n"), time.Now()})
		}
		b.ended = err != nil
		b.mu.Unlock()
		select {
		case b.fresh <- struct{}{}:
		default: // a token is there already
		}
		if err != nil {
			return
		}
	}
}

// next waits for a line that came at or after from and takes the first one; earlier
// ones stay. io.EOF says that there will be none, errInterrupted that interrupt was
// quicker.
func (b *inbox) next(ctx context.Context, from time.Time, interrupt <-chan struct{}) (entry, error) {
	for {
		if e, ok, err := b.take(from); ok || err != nil {
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

// take is next without waiting; ok is false if there is no such line yet.
func (b *inbox) take(from time.Time) (e entry, ok bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, e := range b.lines {
		if !e.at.Before(from) {
			b.lines = append(b.lines[:i:i], b.lines[i+1:]...)
			return e, true, nil
		}
	}
	if b.ended {
		return entry{}, false, io.EOF
	}
	return entry{}, false, nil
}

// drop forgets the lines that wait, and returns their number.
func (b *inbox) drop() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.lines)
	b.lines = nil
	return n
}
