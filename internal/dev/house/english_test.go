package house

import (
	"go/ast"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// patterns are turns of phrase to avoid in comments (see docs/style.md), with the
// number that is left. Lower the bound when you remove some.
var patterns = []struct {
	name, instead string
	re            *regexp.Regexp
	bound         int
}{
	{"nominal what", "name the thing: \"the result\", \"the content\"", regexp.MustCompile(
		`\b[Ww]hat (is|was|it|the|are|were|has|had|they|a|an|comes|came|stands|stood|follows|can|may|must|nobody|no|does|did|made)\b`), 42},
	{"says that", "\"reports whether\", \"returns\", \"explains\"", regexp.MustCompile(
		`\b([Ss]ay|[Tt]ell|[Ss]aid|[Tt]old)(s|ing)? (that|whether|how|why|what|who|where|so)\b`), 1},
	{"is none", "\"\" if missing, nil without one, \"no\"", regexp.MustCompile(
		`\b(is|are|was) none\b|that there is (not|none|no)|there (is|are) not\b|is not there|\bis no more\b`), 2},
	{"stands", "\"is\", \"is open\", \"is pending\"", regexp.MustCompile(`\b[Ss]t(ands|ood|anding)\b`), 1},
	{"where for if", "\"if\"", regexp.MustCompile(
		`\b[Ww]here (it|there|that|nothing|nobody|this|they) (is|are|was|can|has|does)\b`), 2},
	{"whoever", "name who", regexp.MustCompile(`\b([Ww]hoever|[Ww]hosoever)\b`), 1},
	{"another one", "\"another\", and the noun", regexp.MustCompile(`\b(another|other) one(s)?\b`), 0},
}

// TestEnglish keeps the turns of phrase that docs/style.md advises against from
// returning.
func TestEnglish(t *testing.T) {
	all := comments(t)
	for _, p := range patterns {
		var found []string
		for _, c := range all {
			for range p.re.FindAllString(c.text, -1) {
				found = append(found, c.file+": "+c.text)
			}
		}
		if len(found) > p.bound {
			t.Errorf("%d comments with %q, at most %d; write %s (docs/style.md):\n%s",
				len(found), p.name, p.bound, p.instead, strings.Join(found, "\n"))
		}
	}
}

// comment is a line of a comment.
type comment struct{ file, text string }

func comments(t *testing.T) []comment {
	t.Helper()
	var all []comment
	for _, f := range sources(t) {
		for _, group := range f.ast.Comments {
			all = append(all, goComments(f, group)...)
		}
	}
	eachFile(t, func(name string) {
		if ext := path.Ext(name); ext == ".ts" || ext == ".mjs" {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, scriptComments(name, string(data))...)
		}
	})
	return all
}

func goComments(f source, group *ast.CommentGroup) []comment {
	if f.path == "english_test.go" {
		return nil
	}
	var all []comment
	for _, c := range group.List {
		if !strings.HasPrefix(c.Text, "//go:") && !strings.HasPrefix(c.Text, "//nolint") {
			all = append(all, comment{f.set.Position(c.Pos()).String(), strings.TrimPrefix(c.Text, "// ")})
		}
	}
	return all
}

var lineComment = regexp.MustCompile(`(?:^|\s)//\s?(.*)`)

// scriptComments returns the lines of the comments of a TypeScript file.
func scriptComments(name, src string) []comment {
	var all []comment
	block := false
	for i, line := range strings.Split(src, "\n") {
		line = strings.TrimSpace(line)
		block = block || strings.HasPrefix(line, "/*")
		text := line
		if m := lineComment.FindStringSubmatch(line); !block && m != nil {
			text = m[1]
		} else if !block {
			continue
		}
		all = append(all, comment{name + ":" + strconv.Itoa(i+1), text})
		block = block && !strings.Contains(line, "*/")
	}
	return all
}
