package panel

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// answers are the letters of the main answers, by their numbers less one.
var answers = []string{confirm.NumberYes - 1: "y", confirm.NumberAlways - 1: "a", confirm.NumberNo - 1: "n"}

// highlight marks the answer that Enter takes.
const highlight = "❯ "

// answer returns the letter of an answer for its number, and for Enter that of the highlighted
// answer. It returns any other key unchanged.
//
// Enter alone answers nothing: people press it, also after ↑, to send a prompt.
func (p *Panel) answer(key string) string {
	if _, ok := p.part.(*question); ok {
		return key
	}
	switch key {
	case "enter":
		return cmp.Or(p.chosen, key)
	case "1", "2", "3":
		return answers[key[0]-'1']
	}
	return key
}

// choose handles a key that highlights an answer, and reports whether it is one. In a question
// that a person must look at, yes is never the first one highlighted.
func (p *Panel) choose(key, chosen string) bool {
	switch p.part.(type) {
	case *plan, *question:
		return false
	}
	if key != "left" && key != "right" {
		return false
	}
	var offered []string
	for _, letter := range answers {
		if _, ok := p.verdict(letter); ok {
			offered = append(offered, letter)
		}
	}
	i := slices.Index(offered, chosen)
	switch {
	case i < 0 && (key == "left" || p.req.Force):
		i = len(offered) - 1
	case key == "left":
		i--
	default:
		i++
	}
	p.chosen = offered[max(0, min(i, len(offered)-1))]
	return true
}

// miss explains a key that did nothing. One that types text also restarts the delay: it may be
// the first one of a prompt.
func (p *Panel) miss(key tea.KeyPressMsg) {
	keys := []string{"no key of this question", "1 yes", "2 always", "3 no", "? keys"}
	if p.req.Once() || len(p.left()) > 0 {
		keys = slices.Delete(keys, 2, 3)
	}
	switch p.part.(type) {
	case *document:
		keys[2] = "2 yes, accepting edits"
	case *question:
		keys = append(keys[:1], p.part.answers()...)
	}
	name := p.answer(key.String())
	if name == "enter" {
		keys[0] = "Enter takes the answer that → highlights"
	}
	if key.Text != "" && name != "A" && !slices.Contains(answers, name) && p.option(name) == "" {
		p.Shown(p.now)
		p.first = key.Text
	}
	p.missed = strings.Join(keys, " · ")
}

// choice returns the hint of an answer, which begins with its letter: with its number if there
// is room, and marked if it is highlighted.
func (p *Panel) choice(text string, room bool) string {
	letter, _, _ := strings.Cut(text, " ")
	if i := slices.Index(answers, letter); i >= 0 && room {
		text = strconv.Itoa(i+1) + " " + text
	}
	if p.chosen == letter {
		text = highlight + text
	}
	return text
}
