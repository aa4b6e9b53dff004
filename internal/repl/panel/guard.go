package panel

import "time"

// quiet is how long a panel must have been on the screen, with no key pressed,
// before it takes keys: what was typed ahead never answers.
const quiet = 400 * time.Millisecond

// guard keeps keys from a panel that nobody can have looked at yet.
type guard struct {
	armed bool      // keys are let through
	since time.Time // no key since
}

// Wait says how long it takes until the panel takes keys, if none is pressed. Once
// it is zero, the panel takes them.
func (g *guard) Wait(now time.Time) time.Duration {
	wait := max(0, quiet-now.Sub(g.since))
	g.armed = g.armed || wait == 0
	if g.armed {
		return 0
	}
	return wait
}

// Disturbed says that something was typed or pasted that was not for the panel.
func (g *guard) Disturbed(now time.Time) { g.since = now }

// Shown says that the panel is on the screen again after something else covered it,
// or with something else on it: what was typed at that does not answer.
func (g *guard) Shown(now time.Time) { g.armed, g.since = false, now }
