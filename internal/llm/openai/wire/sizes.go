package wire

import (
	"regexp"
	"strconv"
	"strings"
)

// maxSize bounds what is believed about a context, in tokens.
const maxSize = 1 << 32

// The ways in which servers name the sizes. In each the first group is a number.
var (
	windowWords = []*regexp.Regexp{
		regexp.MustCompile(`(?:context length|context window|context size|model length)(?: is| of| only|:|=|\(| |limit)*(\d[\d,]*)`),
		regexp.MustCompile(`(\d[\d,]*)(?: tokens?)? (?:maximum context|maximum$|maximum[ .)]|context length|limit$|limit[ .)])`),
		regexp.MustCompile(`maximum number of (?:input )?tokens allowed \(?(\d[\d,]*)`),
	}
	neededWords = []*regexp.Regexp{
		regexp.MustCompile(`resulted in (\d[\d,]*) tokens`),
		regexp.MustCompile(`\((\d[\d,]*) (?:in the messages|of text input|in your prompt)`),
		regexp.MustCompile(`requested (?:about )?(\d[\d,]*) tokens`),
		regexp.MustCompile(`request (?:has |\()(\d[\d,]*) (?:input )?tokens`),
		regexp.MustCompile(`prompt (?:contains|\(length|is too long:) (\d[\d,]*)`),
		regexp.MustCompile(`input token count \(?(\d[\d,]*)`),
	}
	answerWords = regexp.MustCompile(`(\d[\d,]*) in the completion`)
)

// Sizes returns what the error says about a conversation that is too long: the
// tokens that it may have, and those that it has; zero where it does not say.
func (e *Error) Sizes() (window, needed int64) {
	text := strings.ToLower(e.Message)
	window, needed = e.NCtx, e.NPrompt
	if window == 0 {
		window = first(text, windowWords)
	}
	if needed == 0 {
		needed = first(text, neededWords)
	}
	// What is kept free for the answer cannot be used for the question.
	if answer := first(text, []*regexp.Regexp{answerWords}); answer > 0 && answer < window {
		window -= answer
	}
	if needed <= window {
		needed = 0 // it counts something else
	}
	return window, needed
}

func first(text string, words []*regexp.Regexp) int64 {
	for _, w := range words {
		m := w.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		n, err := strconv.ParseInt(strings.ReplaceAll(m[1], ",", ""), 10, 64)
		if err == nil && n > 0 && n < maxSize {
			return n
		}
	}
	return 0
}

// size is a number of tokens as JSON has it; zero if it is none.
func size(v any) int64 {
	if n, ok := v.(float64); ok && n > 0 && n < maxSize {
		return int64(n)
	}
	return 0
}
