package pager

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Outcome is the effect of a key.
type Outcome int

// The effects of a key.
const (
	Handled   Outcome = iota // redraw the pager
	Searching                // call Search
	Left                     // close the pager
)

// Press handles a key by name ("pgdown", "g", "ctrl+o"); text is the text that it types.
func (p *Pager) Press(key, text string) Outcome {
	p.note = ""
	if p.typing != nil {
		return p.pressTyping(key, text)
	}
	if p.find.running {
		p.find.running = false // any key stops the search
		if key == "esc" {
			return Handled
		}
	}
	switch key {
	case "q", "esc", "ctrl+o", "ctrl+c":
		return Left
	case "/":
		p.typing = new(string)
	case "n":
		return p.again(1)
	case "N":
		return p.again(-1)
	default:
		p.move(key)
	}
	return Handled
}

// Typing reports whether keys type the search text.
func (p *Pager) Typing() bool { return p.typing != nil }

// move scrolls.
func (p *Pager) move(key string) {
	page := max(1, p.height()-1) // keep one row for context
	switch key {
	case "up", "k":
		p.to(p.step(p.top, -1))
	case "down", "j", "enter":
		p.to(p.step(p.top, 1))
	case "pgup", "b", "ctrl+b":
		p.to(p.step(p.top, -page))
	case "pgdown", "f", "space", "ctrl+f":
		p.to(p.step(p.top, page))
	case "ctrl+u", "u":
		p.to(p.step(p.top, -page/2))
	case "ctrl+d", "d":
		p.to(p.step(p.top, page/2))
	case "home", "g":
		p.to(place{})
	case "end", "G":
		p.to(p.bottom())
	case "[":
		p.section(-1)
	case "]":
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

// pressTyping handles a key while the search text is typed.
func (p *Pager) pressTyping(key, text string) Outcome {
	words := *p.typing
	switch key {
	case "esc", "ctrl+c":
		p.typing = nil
	case "enter":
		p.typing = nil
		if words != "" {
			p.find = search{words: words, fold: words == strings.ToLower(words)}
		}
		return p.again(1)
	case "backspace", "ctrl+h":
		if words == "" {
			p.typing = nil
			break
		}
		_, n := utf8.DecodeLastRuneInString(words)
		*p.typing = words[:len(words)-n]
	case "ctrl+u":
		*p.typing = ""
	default:
		*p.typing += text
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
