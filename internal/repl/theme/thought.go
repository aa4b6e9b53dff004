package theme

import "strings"

const (
	// thoughtBytes bounds the part of a thought's first line that is shown.
	thoughtBytes = 1 << 10
	// bytesPerToken is a rough mean over languages and code.
	bytesPerToken = 4
)

// Thought is a model's reasoning in short.
type Thought struct {
	Line   string // the beginning of its first line; not safe for a terminal
	More   bool   // lines follow
	Tokens int64  // estimated
}

// Shorten returns text in short; ok is false if it is blank.
func Shorten(text string) (t Thought, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Thought{}, false
	}
	line, rest, _ := strings.Cut(text, "\n")
	line = strings.Trim(line[:min(len(line), thoughtBytes)], "*# ") // of a heading in Markdown
	return Thought{Line: strings.ToValidUTF8(line, ""), More: rest != "", Tokens: int64(len(text)/bytesPerToken) + 1}, true
}
