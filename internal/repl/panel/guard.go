package panel

import (
	"time"

	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

const (
	// quiet is the time without a key after which a visible panel accepts keys, so that keys
	// typed ahead never answer.
	quiet = 400 * time.Millisecond
	// pause is the longest break between two words of somebody typing. A key after a shorter
	// break counts as more text.
	pause = 2500 * time.Millisecond
)

// guard blocks keys until the person can have seen the panel.
type guard struct {
	armed bool      // keys are accepted
	calm  bool      // the key that takes up the question is accepted
	since time.Time // no key since
	typed time.Time // no text at the prompt since
	now   time.Time // time of the present key

	chosen keys.Action // the highlighted answer; empty for none
	missed string      // why the last key did nothing; empty if it did something
	first  string      // the last key did nothing and types this text: it may begin a prompt
}

// Wait returns the time until the panel accepts keys, if none is pressed. When it returns
// zero, the panel accepts them.
func (g *guard) Wait(now time.Time) time.Duration {
	g.now = now
	wait := max(0, quiet-now.Sub(g.since), pause-now.Sub(g.typed))
	g.armed = g.armed || wait == 0
	if g.armed {
		return 0
	}
	return wait
}

// Disturbed records that something was typed or pasted elsewhere.
func (g *guard) Disturbed(now time.Time) {
	g.calm, g.since, g.chosen, g.missed, g.first = false, now, "", "", ""
}

// Typed records when text was last typed at the prompt. The panel then waits for the pause.
func (g *guard) Typed(at time.Time) { g.armed, g.typed, g.chosen = false, at, "" }

// Shown records that the panel is on the screen again after being covered, or has changed:
// keys typed meanwhile do not answer.
func (g *guard) Shown(now time.Time) {
	g.armed, g.calm, g.since, g.chosen = false, false, now, ""
}

// Calm returns the time until the panel accepts the key that takes up the question.
func (g *guard) Calm(now time.Time) time.Duration {
	wait := max(0, quiet-now.Sub(g.since))
	g.calm = wait == 0
	return wait
}

// Refuses reports whether the panel accepts a no already, if the last key before came at last. It
// does while it is too new for other answers, unless somebody types.
func (g *guard) Refuses(now, last time.Time) bool {
	return now.Sub(last) >= quiet && now.Sub(g.typed) >= pause
}

// First returns the text of a key that did nothing, if no other key followed and the delay has
// not ended: more text makes it the beginning of a prompt.
func (g *guard) First() string { return g.first }

// Arm accepts keys at once: the person took up the question deliberately.
func (g *guard) Arm() { g.armed = true }
