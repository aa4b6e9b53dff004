package remote

import (
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// maxSize is the largest credible size of a context, in tokens.
const maxSize = 1 << 32

// The wordings of servers for the sizes. The first group of each is a number.
var (
	windowWords = []lazyregexp.Regexp{
		lazyregexp.New(`(?:context length|context window|context size|model length)(?: is| of| only|:|=|\(| |limit)*(\d[\d,]*)`),
		lazyregexp.New(`(\d[\d,]*)(?: tokens?)? (?:maximum context|maximum$|maximum[ .)]|context length|limit$|limit[ .)])`),
		lazyregexp.New(`maximum number of (?:input )?tokens allowed \(?(\d[\d,]*)`),
		lazyregexp.New(`(?:maximum prompt length is|context limit: \d+ \+ \d+ >|only supports up to|model token limit:|configured limit of|exceeds the limit of) (\d[\d,]*)`),
		lazyregexp.New(`inputs. (?:tokens \+ .max_new_tokens. must be <=|must have less than) (\d[\d,]*)`),
		lazyregexp.New(`\(tpm\): limit (\d[\d,]*)`),
	}
	neededWords = []lazyregexp.Regexp{
		lazyregexp.New(`resulted in (\d[\d,]*) tokens`),
		lazyregexp.New(`\((\d[\d,]*) (?:in the messages|of text input|in your prompt)`),
		lazyregexp.New(`requested (?:about )?(\d[\d,]*) tokens`),
		lazyregexp.New(`request (?:has |\()(\d[\d,]*) (?:input )?tokens`),
		lazyregexp.New(`(?:prompt|request) (?:contains|\(length|is too long:)(?: at least)? (\d[\d,]*)`),
		lazyregexp.New(`token count (?:of |is )?\(?(\d[\d,]*)`),
		lazyregexp.New(`context limit: (\d[\d,]*) \+`),
		lazyregexp.New(`[(,] ?requested:? (\d[\d,]*)`),
		lazyregexp.New(`given: (\d[\d,]*)`),
	}
	answerWords = []lazyregexp.Regexp{
		lazyregexp.New(`(\d[\d,]*) in the (?:completion|output)`),
		lazyregexp.New(`requested (\d[\d,]*) output tokens`),
		lazyregexp.New(`context limit: \d+ \+ (\d[\d,]*)`),
		lazyregexp.New(`inputs. tokens and (\d[\d,]*) .max_new_tokens`),
	}
)

// Sizes returns the context window and the size of the conversation that the error
// names, in tokens; zero if it does not name them.
func (e *ServerError) Sizes() (window, needed int64) {
	text := strings.ToLower(e.Message)
	window, needed = e.NCtx, e.NPrompt
	if window == 0 {
		window = first(text, windowWords)
	}
	if needed == 0 {
		needed = first(text, neededWords)
	}
	// The part reserved for the answer cannot be used for the conversation.
	if answer := first(text, answerWords); answer > 0 && answer < window {
		window -= answer
	}
	if needed <= window {
		needed = 0 // it counts something else
	}
	return window, needed
}

func first(text string, words []lazyregexp.Regexp) int64 {
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

// size returns a JSON number as a number of tokens; zero if v is not one.
func size(v any) int64 {
	if n, ok := v.(float64); ok && n > 0 && n < maxSize {
		return int64(n)
	}
	return 0
}
