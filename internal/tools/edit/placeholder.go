package edit

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// Placeholder returns the first line of after that replaces code left out, as in
// "// ... rest of the code", or "". It accepts a line that before holds as well.
func Placeholder(before, after string) string {
	var had map[string]bool // the lines of before; built for the first candidate
	for l := range strings.Lines(changedLines(before, after)) {
		l = strings.TrimSpace(l)
		if len(l) >= 200 || !isPlaceholder(l) {
			continue
		}
		if had == nil {
			had = map[string]bool{}
			for b := range strings.Lines(before) {
				had[strings.TrimSpace(b)] = true
			}
		}
		if !had[l] {
			return l
		}
	}
	return ""
}

// changedLines returns the lines of after between those that both texts begin with and
// those that both end with.
func changedLines(before, after string) string {
	head, tail := common(before, after)
	start, end := strings.LastIndexByte(after[:head], '\n')+1, len(after)-tail
	if i := strings.IndexByte(after[end:], '\n'); i >= 0 {
		return after[start : end+i]
	}
	return after[start:]
}

// comment matches a line that is only a comment, and captures its words.
var comment = lazyregexp.New(`^(?://+|#+|--|/\*+|\*|<!--|;+|%|\{/\*|"""|\()\s*(.*?)\s*(?:\*/\}?|-->|"""|\))?$`)

// omission matches the words of a comment in place of code. The dots may be missing only if
// the words leave no doubt.
var omission = func() lazyregexp.Regexp {
	const (
		thing = `(?:code|file|function|functions|method|methods|class|classes|implementation|module|script|component|content|contents|imports|logic|body|tests|fields|properties)`
		which = `(?:the |your |this |all |other |existing |original |previous |remaining |rest of |unchanged |same )*`
		stays = `(?: (?:is|are|here|remains?|stays?|goes|the|same|unchanged|as|before|above|omitted|for|brevity|is the same)\b)*`
		dots  = `(?:\.\.\.+|…)`
	)
	return lazyregexp.New(`(?i)^(?:` +
		dots + ` ?\(?` + which + thing + `?` + stays + `\)? ?` + dots + `?|` +
		which + thing + stays + ` ?` + dots + `|` +
		`(?:the )?(?:rest|remainder) of ` + which + thing + stays + `\.?|` +
		`(?:existing|remaining) ` + thing + ` (?:here|unchanged|remains?|stays?)` + stays + `\.?)$`)
}()

func isPlaceholder(line string) bool {
	m := comment.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	words := clip.Line(m[1])
	return strings.ContainsAny(words, "abcdefghijklmnopqrstuvwxyz") && omission.MatchString(words)
}
