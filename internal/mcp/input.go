package mcp

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
)

// maxQueued bounds the messages that wait for a program that does not read its input, in bytes.
const maxQueued = 2 * maxMessage

// inputQueue is the standard input of a program. The goroutine of run writes: a program that
// does not read blocks a write for ever, and the SDK does not interrupt it.
type inputQueue struct {
	to io.WriteCloser

	mu     sync.Mutex // guards the rest
	change *sync.Cond // queue or closed has changed
	queue  []queued
	size   int // of queue, in bytes
	closed bool
	err    error // of the write that failed
}

// queued is a message, or a mark: written is closed after the messages before it.
type queued struct {
	message []byte
	written chan struct{}
}

func newInputQueue(to io.WriteCloser) *inputQueue {
	q := &inputQueue{to: to}
	q.change = sync.NewCond(&q.mu)
	return q
}

// Write implements io.Writer. It queues a message, and never blocks.
func (q *inputQueue) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.err != nil:
		return 0, q.err
	case q.closed:
		return 0, os.ErrClosed
	case q.size > 0 && q.size+len(p) > maxQueued:
		return 0, errors.New("it does not read its input")
	}
	q.size += len(p)
	q.queue = append(q.queue, queued{message: bytes.Clone(p)})
	q.change.Signal()
	return len(p), nil
}

// flushed returns a channel that is closed once the messages queued so far are written.
func (q *inputQueue) flushed() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	mark := queued{written: make(chan struct{})}
	q.queue = append(q.queue, mark)
	q.change.Signal()
	return mark.written
}

// Close implements io.Closer. It ends the input after the queued messages, never blocks and
// never fails.
func (q *inputQueue) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.change.Signal()
	return nil
}

// run writes the messages until Close, or until a write fails.
func (q *inputQueue) run() error {
	defer q.to.Close() // nothing follows
	for {
		next, ok := q.next()
		switch {
		case !ok:
			return nil
		case next.written != nil:
			close(next.written)
			continue
		}
		if _, err := q.to.Write(next.message); err != nil {
			q.fail(err)
			return err
		}
	}
}

// next waits for the first of the queue, and takes it; false at the end.
func (q *inputQueue) next() (queued, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.queue) == 0 {
		if q.closed {
			return queued{}, false
		}
		q.change.Wait()
	}
	first := q.queue[0]
	q.queue, q.size = q.queue[1:], q.size-len(first.message)
	return first, true
}

func (q *inputQueue) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.err, q.queue, q.size = err, nil, 0
}
