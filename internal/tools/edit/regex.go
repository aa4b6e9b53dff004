package edit

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Pattern replaces the matches of an RE2 expression.
type Pattern struct {
	Expr        string
	Replacement string // $1 and ${name} are groups, $$ is a dollar
	Count       int    // at most so many places; zero means all
	IgnoreCase  bool
	Multiline   bool // ^ and $ match at lines
	EOL         string
}

// Regex applies p to text. The expression sees every line ending as \n. No match is an
// error.
func Regex(text string, p Pattern) (Result, error) {
	src := newSource(text, p.EOL)
	p.Expr, p.Replacement = src.sent(p.Expr), src.sent(p.Replacement)
	re, err := p.compile()
	if err != nil {
		return Result{}, err
	}
	if err := checkTemplate(re, p.Replacement); err != nil {
		return Result{}, err
	}
	limit := p.Count
	if limit == 0 {
		limit = -1
	}
	flat := src.flat
	found := re.FindAllStringSubmatchIndex(flat, limit)
	if len(found) == 0 {
		return Result{}, errors.New("the pattern matches nothing in the file; it sees each line ending as \\n")
	}
	spans := make([]span, len(found))
	for i, m := range found {
		fill := string(re.ExpandString(nil, p.Replacement, flat, m))
		spans[i] = span{m[0], m[1], fill}
	}
	return Result{
		Text: src.replace(spans), Stage: src.stage(Exact, spans, ""), Places: len(spans), Line: lineAt(flat, spans[0].from),
	}, nil
}

func (p Pattern) compile() (*regexp.Regexp, error) {
	flags := ""
	if p.IgnoreCase {
		flags += "i"
	}
	if p.Multiline {
		flags += "m"
	}
	expr := p.Expr
	if flags != "" {
		expr = "(?" + flags + ")" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("pattern is not RE2: %w", err)
	}
	return re, nil
}

// checkTemplate refuses a replacement that names an unknown group, which would silently
// become empty.
func checkTemplate(re *regexp.Regexp, template string) error {
	for rest := template; ; {
		i := strings.IndexByte(rest, '$')
		if i < 0 {
			return nil
		}
		name, size := groupName(rest[i+1:])
		rest = rest[i+1+size:]
		if name == "" || name == "$" {
			continue
		}
		if hasGroup(re, name) {
			continue
		}
		return fmt.Errorf("replacement names the group %q, which the pattern does not have; write ${1} where letters or digits follow, $$ for a dollar", name)
	}
}

// hasGroup reports whether re.Expand finds the group. To it, a number with a leading zero is a
// name.
func hasGroup(re *regexp.Regexp, name string) bool {
	n, err := strconv.ParseUint(name, 10, 31)
	if err != nil || strconv.FormatUint(n, 10) != name {
		return re.SubexpIndex(name) >= 0
	}
	return int(n) <= re.NumSubexp()
}

// groupName returns the name after a dollar, a word, a word in braces or a second dollar,
// and its size. As for re.Expand, a word has letters and digits of any script.
func groupName(s string) (name string, size int) {
	if strings.HasPrefix(s, "$") {
		return "$", 1
	}
	if strings.HasPrefix(s, "{") {
		if end := strings.IndexByte(s, '}'); end > 0 {
			return s[1:end], end + 1
		}
		return "", 0
	}
	end := strings.IndexFunc(s, func(r rune) bool { return !isWord(r) })
	if end < 0 {
		end = len(s)
	}
	return s[:end], end
}
