package ide

import "time"

// Limits of the search for an editor.
const (
	firstWait = 500 * time.Millisecond
	longest   = 30 * time.Second
	// lookAgain is the longest wait after a search without a dial: it only reads folders,
	// and a person who opens an editor, or reloads its window, is waiting for the link.
	lookAgain = 2 * time.Second
	// mostDials is the largest number of attempts within a minute.
	mostDials = 10
	// settled is how long a link must last before the next failure counts as the first.
	// Links to one run of an editor that end sooner, one after another, are taken over by
	// another session.
	settled  = 10 * time.Second
	mostLost = 3
	// mostRefused is how often a token is shown to an editor that refuses it.
	mostRefused = 2
)

// pace decides when to try again: less and less often while attempts fail, and never
// more often than the limit.
type pace struct {
	jitter func() float64
	fails  int
	dials  []time.Time // of the last minute, oldest first
}

// dialled records an attempt.
func (p *pace) dialled(now time.Time) {
	p.dials = append(p.dials, now)
	if len(p.dials) > mostDials {
		p.dials = p.dials[1:]
	}
}

// failed makes the next wait longer.
func (p *pace) failed() { p.fails++ }

// reset makes the next wait the shortest again.
func (p *pace) reset() { p.fails = 0 }

// wait returns how long to wait before the next attempt; the limit of dials aside, not
// longer than most.
func (p *pace) wait(now time.Time, most time.Duration) time.Duration {
	d := most
	if n := max(0, p.fails-1); n < 6 {
		d = min(most, firstWait<<n)
	}
	d += time.Duration(float64(d) * 0.2 * (p.jitter() - 0.5)) // ±10 %
	if len(p.dials) == mostDials {
		d = max(d, p.dials[0].Add(time.Minute).Sub(now))
	}
	return d
}
