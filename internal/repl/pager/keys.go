package pager

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// Outcome is the effect of a key.
type Outcome int

// The effects of a key.
const (
	Handled   Outcome = iota // redraw the pager
	Searching                // call Search
	Left                     // close the pager
)

// Press handles a key.
func (p *Pager) Press(key tea.KeyPressMsg) Outcome {
	p.note = ""
	if p.typing != nil {
		return p.pressTyping(key)
	}
	if p.find.running {
		p.find.running = false // any key stops the search
		if p.Keys.Is(key, keys.Stop) {
			return Handled
		}
	}
	switch a := p.Keys.At(keys.Pager, key); a {
	case keys.PagerClose, keys.Interrupt:
		return Left
	case keys.PagerSearch:
		p.typing = new(string)
	case keys.PagerNext:
		return p.again(1)
	case keys.PagerPrevious:
		return p.again(-1)
	default:
		p.move(a)
	}
	return Handled
}

// move scrolls.
func (p *Pager) move(a keys.Action) {
	page := max(1, p.height()-1) // keep one row for context
	switch a {
	case keys.PagerUp:
		p.to(p.step(p.top, -1))
	case keys.PagerDown:
		p.to(p.step(p.top, 1))
	case keys.PagerPageUp:
		p.to(p.step(p.top, -page))
	case keys.PagerPageDown:
		p.to(p.step(p.top, page))
	case keys.PagerHalfUp:
		p.to(p.step(p.top, -page/2))
	case keys.PagerHalfDown:
		p.to(p.step(p.top, page/2))
	case keys.PagerStart:
		p.to(place{})
	case keys.PagerEnd:
		p.to(p.bottom())
	case keys.SectionPrevious:
		p.section(-1)
	case keys.SectionNext:
		p.section(1)
	}
}

// section moves to the part before or after the top of the screen.
func (p *Pager) section(dir int) {
	starts := p.starts()
	i, exact := slices.BinarySearch(starts, p.top.line)
	switch {
	case dir > 0 && exact:
		i++
	case dir < 0 && !(exact && p.top.row > 0):
		i--
	}
	if i >= 0 && i < len(starts) {
		p.to(place{line: starts[i]})
	}
}

// pressTyping handles a key while the search text is typed, as the prompt does.
func (p *Pager) pressTyping(key tea.KeyPressMsg) Outcome {
	words := *p.typing
	switch p.Keys.At(keys.Prompt, key) {
	case keys.Stop, keys.Interrupt:
		p.typing = nil
	case keys.Send:
		p.typing = nil
		if words != "" {
			p.find = search{words: words, fold: words == strings.ToLower(words)}
		}
		return p.again(1)
	case keys.DeleteLeft:
		if words == "" {
			p.typing = nil
			break
		}
		_, n := utf8.DecodeLastRuneInString(words)
		*p.typing = words[:len(words)-n]
	case keys.DeleteLineLeft:
		*p.typing = ""
	default:
		*p.typing += key.Text
	}
	return Handled
}

// Paste adds pasted text to the search text, if it is being typed.
func (p *Pager) Paste(text string) {
	if p.typing != nil {
		line, _, _ := strings.Cut(text, "\n")
		*p.typing += strings.TrimRight(line, "\r")
	}
}
