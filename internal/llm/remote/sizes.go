package remote

import (
	"regexp"
	"strconv"
	"strings"
)

// maxSize is the largest credible size of a context, in tokens.
const maxSize = 1 << 32

// The wordings of servers for the sizes. The first group of each is a number.
var (
	windowWords = []*regexp.Regexp{
		regexp.MustCompile(`(?:context length|context window|context size|model length)(?: is| of| only|:|=|\(| |limit)*(\d[\d,]*)`),
		regexp.MustCompile(`(\d[\d,]*)(?: tokens?)? (?:maximum context|maximum$|maximum[ .)]|context length|limit$|limit[ .)])`),
		regexp.MustCompile(`maximum number of (?:input )?tokens allowed \(?(\d[\d,]*)`),
		regexp.MustCompile(`(?:maximum prompt length is|context limit: \d+ \+ \d+ >|only supports up to|model token limit:|configured limit of|exceeds the limit of) (\d[\d,]*)`),
		regexp.MustCompile(`inputs. (?:tokens \+ .max_new_tokens. must be <=|must have less than) (\d[\d,]*)`),
		regexp.MustCompile(`\(tpm\): limit (\d[\d,]*)`),
	}
	neededWords = []*regexp.Regexp{
		regexp.MustCompile(`resulted in (\d[\d,]*) tokens`),
		regexp.MustCompile(`\((\d[\d,]*) (?:in the messages|of text input|in your prompt)`),
		regexp.MustCompile(`requested (?:about )?(\d[\d,]*) tokens`),
		regexp.MustCompile(`request (?:has |\()(\d[\d,]*) (?:input )?tokens`),
		regexp.MustCompile(`(?:prompt|request) (?:contains|\(length|is too long:)(?: at least)? (\d[\d,]*)`),
		regexp.MustCompile(`token count (?:of |is )?\(?(\d[\d,]*)`),
		regexp.MustCompile(`context limit: (\d[\d,]*) \+`),
		regexp.MustCompile(`[(,] ?requested:? (\d[\d,]*)`),
		regexp.MustCompile(`given: (\d[\d,]*)`),
	}
	answerWords = []*regexp.Regexp{
		regexp.MustCompile(`(\d[\d,]*) in the (?:completion|output)`),
		regexp.MustCompile(`requested (\d[\d,]*) output tokens`),
		regexp.MustCompile(`context limit: \d+ \+ (\d[\d,]*)`),
		regexp.MustCompile(`inputs. tokens and (\d[\d,]*) .max_new_tokens`),
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

// size returns a JSON number as a number of tokens; zero if v is not one.
func size(v any) int64 {
	if n, ok := v.(float64); ok && n > 0 && n < maxSize {
		return int64(n)
	}
	return 0
}
