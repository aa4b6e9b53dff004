package shell

import (
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// Reports are at least reportPause apart and hold at most reportSize bytes.
const (
	reportPause = 50 * time.Millisecond
	reportSize  = 8 << 10
)

// reporter passes output to a function at a pace that a screen can follow. add never
// waits for the function. A nil reporter reports nothing.
type reporter struct {
	report   func(string)
	encoding text.Encoding // as of Jobs
	wake     chan struct{} // capacity 1
	closed   chan struct{}
	done     chan struct{}

	mu      sync.Mutex
	pending []byte // the newest bytes not reported yet
	cut     bool   // bytes before pending were dropped
}

// newReporter starts a reporter; close ends it.
func newReporter(report func(string), encoding text.Encoding) *reporter {
	if report == nil {
		return nil
	}
	r := &reporter{
		report: report, encoding: encoding, wake: make(chan struct{}, 1), closed: make(chan struct{}), done: make(chan struct{}),
	}
	go r.run()
	return r
}

// add adds output. Of more than reportSize bytes it copies only the end.
func (r *reporter) add(p []byte) {
	if r == nil {
		return
	}
	r.mu.Lock()
	if over := len(r.pending) + len(p) - reportSize; over > 0 {
		r.cut = true
		fromPending := min(over, len(r.pending))
		r.pending = append(r.pending[:0], r.pending[fromPending:]...)
		p = p[over-fromPending:]
	}
	r.pending = append(r.pending, p...)
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// close reports the pending output and waits until the function has returned.
func (r *reporter) close() {
	if r == nil {
		return
	}
	close(r.closed)
	<-r.done
}

func (r *reporter) run() {
	defer crash.Guard()
	defer close(r.done)
	defer r.flush(true)
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-r.wake:
		case <-r.closed:
			return
		}
		select {
		case <-pause.C:
		case <-r.closed:
			return
		}
		r.flush(false)
		pause.Reset(reportPause)
	}
}

// flush reports the pending output. It keeps an unfinished character at the end for the
// next time unless last is set.
func (r *reporter) flush(last bool) {
	r.mu.Lock()
	ready := r.pending
	if !last {
		ready = ready[:len(ready)-unfinished(ready)]
	}
	chunk := string(ready)
	r.pending = append(r.pending[:0], r.pending[len(ready):]...)
	cut := r.cut && chunk != ""
	if cut {
		r.cut = false
	}
	r.mu.Unlock()
	if cut {
		chunk = "…\n" + afterNewline(chunk)
	}
	if chunk != "" {
		r.report(text.Output([]byte(chunk), r.encoding))
	}
}

// unfinished returns the number of bytes at the end of p that begin a character but do
// not complete it.
func unfinished(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if b := p[len(p)-n]; utf8.RuneStart(b) {
			if utf8.FullRune(p[len(p)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

// afterNewline returns s from its second line on if it has one.
func afterNewline(s string) string {
	if _, rest, ok := strings.Cut(s, "\n"); ok && rest != "" {
		return rest
	}
	return strings.TrimLeftFunc(s, func(r rune) bool { return r == utf8.RuneError })
}
