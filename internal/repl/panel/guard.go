package panel

import "time"

const (
	// quiet is how long a panel must have been on the screen, with no key pressed,
	// before it takes keys: what was typed ahead never answers.
	quiet = 400 * time.Millisecond
	// pause is how long somebody who types may think before the next word. Until the
	// keyboard was silent for that long, a key is taken for more text.
	pause = 2500 * time.Millisecond
)

// guard keeps keys from a panel that nobody can have looked at yet.
type guard struct {
	armed bool      // keys are let through
	calm  bool      // the key that takes the question up counts
	since time.Time // no key since
	typed time.Time // no text at the prompt since
	now   time.Time // of the key that comes
}

// Wait says how long it takes until the panel takes keys, if none is pressed. Once
// it is zero, the panel takes them.
func (g *guard) Wait(now time.Time) time.Duration {
	g.now = now
	wait := max(0, quiet-now.Sub(g.since), pause-now.Sub(g.typed))
	g.armed = g.armed || wait == 0
	if g.armed {
		return 0
	}
	return wait
}

// Disturbed says that something was typed or pasted that was not for the panel.
func (g *guard) Disturbed(now time.Time) { g.calm, g.since = false, now }

// Typed says when text was last typed at the prompt. The panel waits for the end of
// the pause after it.
func (g *guard) Typed(at time.Time) { g.armed, g.typed = false, at }

// Shown says that the panel is on the screen again after something else covered it,
// or with something else on it: what was typed at that does not answer.
func (g *guard) Shown(now time.Time) { g.armed, g.calm, g.since = false, false, now }

// Calm says how long it takes until the panel was on the screen long enough, with no
// key pressed, for the key that takes the question up.
func (g *guard) Calm(now time.Time) time.Duration {
	wait := max(0, quiet-now.Sub(g.since))
	g.calm = wait == 0
	return wait
}

// Arm lets keys through at once: the question was taken up on purpose.
func (g *guard) Arm() { g.armed = true }
