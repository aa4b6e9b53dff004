package edit

import (
	"regexp"
	"strings"
	"sync"
)

// Placeholder returns the first line of after that replaces code left out, as in
// "// ... rest of the code", or "". It accepts a line that before holds as well.
func Placeholder(before, after string) string {
	had := map[string]bool{}
	for _, l := range textLines(before) {
		had[strings.TrimSpace(l)] = true
	}
	for _, l := range textLines(after) {
		if l := strings.TrimSpace(l); !had[l] && len(l) < 200 && isPlaceholder(l) {
			return l
		}
	}
	return ""
}

// comment matches a line that is only a comment, and captures its words.
var comment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?://+|#+|--|/\*+|\*|<!--|;+|%|\{/\*|"""|\()\s*(.*?)\s*(?:\*/\}?|-->|"""|\))?$`)
})

// omission matches the words of a comment in place of code. The dots may be missing only if
// the words leave no doubt.
var omission = sync.OnceValue(func() *regexp.Regexp {
	const (
		thing = `(?:code|file|function|functions|method|methods|class|classes|implementation|module|script|component|content|contents|imports|logic|body|tests|fields|properties)`
		which = `(?:the |your |this |all |other |existing |original |previous |remaining |rest of |unchanged |same )*`
		stays = `(?: (?:is|are|here|remains?|stays?|goes|the|same|unchanged|as|before|above|omitted|for|brevity|is the same)\b)*`
		dots  = `(?:\.\.\.+|…)`
	)
	return regexp.MustCompile(`(?i)^(?:` +
		dots + ` ?\(?` + which + thing + `?` + stays + `\)? ?` + dots + `?|` +
		which + thing + stays + ` ?` + dots + `|` +
		`(?:the )?(?:rest|remainder) of ` + which + thing + stays + `\.?|` +
		`(?:existing|remaining) ` + thing + ` (?:here|unchanged|remains?|stays?)` + stays + `\.?)$`)
})

func isPlaceholder(line string) bool {
	m := comment().FindStringSubmatch(line)
	if m == nil {
		return false
	}
	words := strings.Join(strings.Fields(m[1]), " ")
	return strings.ContainsAny(words, "abcdefghijklmnopqrstuvwxyz") && omission().MatchString(words)
}
