package openai

import "bytes"

// The tags around reasoning that a model writes into its text.
const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
	blank      = " \t\r\n"
	maxBlank   = 1 << 10 // bytes before the tag
)

// thinkStep is how far a thinkFilter has come.
type thinkStep int

const (
	beforeThink thinkStep = iota // only blanks, or the start of the tag
	openThink                    // only blanks since the tag
	insideThink
	afterThink // only blanks since the end tag
	pastThink  // everything else is text
)

// thinkFilter separates the <think>…</think> at the very beginning of a text, and the blanks
// around it, from the rest, as the text arrives. Without an end tag all of it is reasoning.
type thinkFilter struct {
	step thinkStep
	held []byte // received, but not yet decided
}

// split adds text and returns what it decides.
func (f *thinkFilter) split(text []byte) (reasoning, rest string) {
	if f.step == pastThink {
		return "", string(text)
	}
	text = append(f.held, text...)
	f.held = nil
	if f.step == beforeThink {
		tag := bytes.TrimLeft(text, blank)
		few := len(text)-len(tag) <= maxBlank
		if few && len(tag) < len(thinkOpen) && bytes.HasPrefix([]byte(thinkOpen), tag) {
			f.held = text
			return "", ""
		}
		after, found := bytes.CutPrefix(tag, []byte(thinkOpen))
		if !found || !few {
			f.step = pastThink
			return "", string(text)
		}
		f.step, text = openThink, after
	}
	if f.step < afterThink {
		reasoning, text = f.inside(text)
	}
	if f.step == afterThink {
		if text = bytes.TrimLeft(text, blank); len(text) > 0 {
			f.step = pastThink
		}
	}
	return reasoning, string(text)
}

// inside returns the reasoning in text and what follows its end tag.
func (f *thinkFilter) inside(text []byte) (reasoning string, after []byte) {
	if f.step == openThink {
		if text = bytes.TrimLeft(text, blank); len(text) == 0 {
			return "", nil
		}
		f.step = insideThink
	}
	text, after, found := bytes.Cut(text, []byte(thinkClose))
	if found {
		f.step = afterThink
		return string(text), after
	}
	for n := min(len(text), len(thinkClose)-1); n > 0; n-- {
		if bytes.HasSuffix(text, []byte(thinkClose[:n])) {
			f.held = bytes.Clone(text[len(text)-n:])
			return string(text[:len(text)-n]), nil
		}
	}
	return string(text), nil
}

// close returns what is held at the end of the answer.
func (f *thinkFilter) close() (reasoning, rest string) {
	held := string(f.held)
	f.held = nil
	if f.step == beforeThink {
		return "", held
	}
	return held, ""
}
