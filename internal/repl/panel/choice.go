package panel

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// answers are the main answers, by their numbers less one; numbers are the keys of the numbers.
var (
	answers = []keys.Action{confirm.NumberYes - 1: keys.Approve, confirm.NumberAlways - 1: keys.ApproveSession, confirm.NumberNo - 1: keys.Reject}
	numbers = []keys.Action{keys.Answer1, keys.Answer2, keys.Answer3}
)

// answering is the choice of an answer.
type answering struct{ *Panel }

// highlight marks the answer that Enter takes.
const highlight = "❯ "

// meant returns the action of a key: for a number the answer, and for Enter the highlighted one.
//
// Enter alone answers nothing: people press it, also after ↑, to send a prompt.
func (c *answering) meant(key tea.KeyPressMsg) keys.Action {
	a := c.Keys.At(keys.Question, key)
	if _, ok := c.part.(*question); ok {
		return a
	}
	if i := slices.Index(numbers, a); i >= 0 {
		return answers[i]
	}
	if a == keys.Take {
		return cmp.Or(c.chosen, a)
	}
	return a
}

// choose handles an action that highlights an answer, and reports whether it is one. In a question
// that a person must look at, yes is never the first one highlighted.
func (c *answering) choose(a, chosen keys.Action) bool {
	switch c.part.(type) {
	case *plan, *question:
		return false
	}
	if a != keys.FileClose && a != keys.FileOpen {
		return false
	}
	var offered []keys.Action
	for _, answer := range answers {
		if _, ok := c.verdict(answer); ok {
			offered = append(offered, answer)
		}
	}
	i := slices.Index(offered, chosen)
	switch {
	case i < 0 && (a == keys.FileClose || c.req.Force):
		i = len(offered) - 1
	case a == keys.FileClose:
		i--
	default:
		i++
	}
	c.chosen = offered[max(0, min(i, len(offered)-1))]
	return true
}

// miss explains a key that did nothing. One that types text also restarts the delay: it may be
// the first one of a prompt.
func (c *answering) miss(a keys.Action, key tea.KeyPressMsg) {
	said := []string{"That key does nothing here."}
	if a == keys.Take {
		said[0] = "Press " + c.Keys.First(keys.FileOpen) + " to choose an answer, then " + c.Keys.First(keys.Take)
	}
	if _, ok := c.part.(*question); ok {
		said = append(said, c.part.answers()...)
	} else {
		for i, name := range c.part.names() {
			if name != "" {
				said = append(said, c.legend.hint(name, numbers[i]))
			}
		}
		if len(c.legend.more()) > 0 {
			said = append(said, c.legend.hint("more", keys.MoreKeys))
		}
	}
	moved := c.Keys.At(keys.Question, key) != (keys.Map{}).At(keys.Question, key) // so it was meant for the question
	if key.Text != "" && !moved && a != keys.ApproveAlways && !slices.Contains(answers, a) && c.part.option(a) == "" {
		c.Shown(c.now)
		c.first = key.Text
	}
	c.missed = strings.Join(said, " · ")
}

// hint returns the hint of an answer: with its number if there is room, and marked if it is
// highlighted.
func (c *answering) hint(a keys.Action, does string, room bool) string {
	text := c.legend.hint(does, a)
	if room {
		text = c.legend.hint(does, numbers[slices.Index(answers, a)], a)
	}
	if c.chosen == a {
		text = highlight + text
	}
	return text
}

// approval returns the hint of the approval.
func (c *answering) approval(room bool) string {
	if does := c.part.yes(); does != "" {
		return c.hint(keys.Approve, does, room)
	}
	return "all hunks are left out"
}

// readable reports whether enough of the request has been visible to approve it.
func (c *answering) readable() bool { return c.scroll.fits && c.part.hidden(c.scroll.seen) == 0 }

// edited returns the text of an external edit, for a verdict.
func (c *answering) edited() map[int]string {
	if c.Panel.edited == nil {
		return nil
	}
	return confirm.Text(*c.Panel.edited)
}
