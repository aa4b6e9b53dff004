package ide

import "time"

// slept is how far the time of day must run ahead of the clock of timers, which stops
// while the machine sleeps.
const slept = 15 * time.Second

// nap notices that the machine has slept.
type nap struct {
	wall func() time.Time
	at   time.Time // time of day at the last look
	mono time.Time // the same by the clock that timers go by
}

func (b *Bridge) newNap() *nap {
	return &nap{wall: b.opt.Clock.Wall, at: b.opt.Clock.Wall(), mono: time.Now()}
}

func (n *nap) slept() bool {
	at, mono := n.wall(), time.Now()
	gone := at.Sub(n.at) - mono.Sub(n.mono)
	n.at, n.mono = at, mono
	return gone > slept
}
