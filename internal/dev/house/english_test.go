package house

import (
	"flag"
	"go/ast"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// pattern is a turn of phrase to avoid (see docs/style.md), with the number that is left.
// Lower the bound when you remove some.
type pattern struct {
	name, instead string
	re            *regexp.Regexp
	bound         int
}

// inComments are those to avoid in comments.
var inComments = []pattern{
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

// inTexts are those to avoid in what people read: the program's messages, questions and help, the
// extension's, and the pages of the documentation.
var inTexts = []pattern{
	{"nothing of", "\"no\", \"none of\"", regexp.MustCompile(`\b[Nn]othing of\b|\bnone (is|are) left\b`), 0},
	{"go on", "\"continue\"", regexp.MustCompile(`(^|[^"“\x60])\b[Gg](o|oes|oing) on\b([^"”\x60]|$)`), 0},
	{"as it is", "\"unchanged\"", regexp.MustCompile(`\bas (it is|they are)\b`), 0},
	{"asked about", "\"asks\"", regexp.MustCompile(`\basked about\b`), 0},
	{"with a yes", "\"approved\"", regexp.MustCompile(`\banswered with a (yes|no)\b`), 0},
	{"what it holds", "\"its content\"", regexp.MustCompile(`\bwhat (it|they) holds?\b`), 0},
	{"by itself", "\"automatically\", \"alone\"", regexp.MustCompile(`\bby (itself|themselves)\b`), 0},
	{"in its place", "\"instead\"", regexp.MustCompile(`\bin (its|their) place\b`), 0},
	{"the others", "\"the rest\", or the noun", regexp.MustCompile(`\bthe others\b`), 0},
	{"for good", "\"permanently\"", regexp.MustCompile(`\bfor good\b`), 0},
	{"take back", "\"undo\"", regexp.MustCompile(`\b[Tt](ake|akes|aken|aking|ook) ((it|this|them|that|(a|the) [a-z]+) )?back\b`), 0},
	{"known to only read", "\"read-only\", \"may change files\"", regexp.MustCompile(`known to only read|\b[Cc]ommands? that only reads?\b`), 0},
	{"and leave", "\"exit\"", regexp.MustCompile(`\b(and|then|twice:) leaves?([^ a-z]|$)|\bleft without an answer\b`), 0},
	{"is no", "\"is not a\"", regexp.MustCompile(`(%[qsv]|\bthat|\bwhich|\bit|\band|\barguments) (is|are) no (address|entry|JSON|metadata|messages|YAML|name|rule|text file|key|lock file|secret|message|number|URL|choice|folder)\b`), 0},
	{"in force", "\"current\"", regexp.MustCompile(`\bin force\b`), 0},
	{"leave", "\"exit\"", regexp.MustCompile(`^leaves?$|\| leave \||\b(nothing|Esc) to leave\b|\*\* leaves\b`), 1}, // the name of the key's action
}

// TestEnglish keeps the turns of phrase that docs/style.md advises against from
// returning.
func TestEnglish(t *testing.T) {
	avoid(t, inComments, comments(t))
	all := texts(t)
	avoid(t, inTexts, all)
	if *list {
		for _, c := range all {
			if words.MatchString(c.text) {
				t.Logf("%s: %s", c.file, c.text)
			}
		}
	}
}

var list = flag.Bool("list", false, "let TestEnglish print what people read, with its place")

// words are at least two, which a person may read.
var words = regexp.MustCompile(`[a-z]{2}.* .*[a-z]{2}`)

func avoid(t *testing.T, patterns []pattern, all []comment) {
	t.Helper()
	for _, p := range patterns {
		var found []string
		for _, c := range all {
			for range p.re.FindAllString(c.text, -1) {
				found = append(found, c.file+": "+c.text)
			}
		}
		if len(found) > p.bound {
			slices.SortStableFunc(found, func(a, b string) int { return changed(b).Compare(changed(a)) })
			t.Errorf("%d times %q, at most %d; write %s (docs/style.md). The file changed last comes first:\n%s",
				len(found), p.name, p.bound, p.instead, strings.Join(found, "\n"))
		}
	}
}

// changed returns when the file that a place begins with was changed.
func changed(place string) time.Time {
	name, _, _ := strings.Cut(place, ":")
	info, err := os.Stat(name)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// texts returns what people read, a line each.
func texts(t *testing.T) []comment {
	t.Helper()
	all := placedLiterals(t)
	eachFile(t, func(name string) {
		page := path.Ext(name) == ".md" && (path.Dir(name) == "docs" || path.Base(name) == "README.md")
		if !page && !strings.HasPrefix(name, "editors/vscode/l10n/") && !strings.HasPrefix(path.Base(name), "package.nls") && name != "internal/demo/script.yaml" || name == "docs/style.md" || name == "docs/security-report.md" {
			return
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(string(data), "\n") {
			all = append(all, comment{name, line})
		}
	})
	return all
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
