package house

import (
	"cmp"
	"go/ast"
	"go/constant"
	"go/token"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// limit is a row of docs/limits.md.
type limit struct{ value, message, constant string }

// TestLimits compares docs/limits.md with the source: the constants have the values of the
// page, and a text of the program can be the message.
func TestLimits(t *testing.T) {
	page, err := os.ReadFile("docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	values, texts := constants(t), literals(t)
	listed := limits(string(page))
	if rows := strings.Count(string(page), "| `internal/"); rows != len(listed) || rows < 50 {
		t.Fatalf("%d of %d rows have the form of a limit", len(listed), rows)
	}
	for _, l := range listed {
		want, ok := parseLimit(l.value)
		if got := values.int(l.constant); !ok || got != want {
			t.Errorf("%s is %d, docs/limits.md has %q", l.constant, got, l.value)
		}
		if !mayPrint(texts, l.message) {
			t.Errorf("%s: no text of the program is like %q", l.constant, l.message)
		}
		if !strings.ContainsAny(l.message, "0123456789…") {
			t.Errorf("%s: the message %q names no limit", l.constant, l.message)
		}
	}
}

// stated finds the messages that name a limit.
var stated = regexp.MustCompile(`(more than|larger than|longer than|at most|the limit is|not done after|answer within|did not answer within|only the first|Only the first|truncated:) %[dsv]`)

// TestLimitsAreListed finds the messages that name a limit and are not in docs/limits.md.
func TestLimitsAreListed(t *testing.T) {
	page, err := os.ReadFile("docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []*regexp.Regexp
	for _, l := range limits(string(page)) {
		rows = append(rows, messagePattern(l.message))
	}
	for _, text := range literals(t) {
		long := strings.Contains(text, "\n") // a text for the model
		if stated.MatchString(text) && !long && !otherLimits[text] && !matches(rows, verbs.ReplaceAllString(text, hole)) {
			t.Errorf("docs/limits.md lacks the limit of %q", text)
		}
	}
}

// otherLimits are texts that name no fixed limit of this program, or one that a person
// meets in another message.
var otherLimits = map[string]bool{
	"added lines are longer than %d characters: %s": true,
	"%w: %d bytes, at most %d":                      true, // of an editor
	"%w: more than %d bytes":                        true, // of the caller
	"%w: the limit is %d bytes":                     true,
	"it is larger than %d MB":                       true,
	"The next request costs about %s, more than %s: %s tokens are not cached (max_request_usd)": true, // a setting
}

func limits(page string) (all []limit) {
	row := regexp.MustCompile("(?m)^\\| [^|]+ \\| ([^|]+) \\| `([^|]+)` \\| `(internal/[^|`]+)` \\|$")
	for _, m := range row.FindAllStringSubmatch(page, -1) {
		all = append(all, limit{m[1], m[2], m[3]})
	}
	return all
}

// units are those of docs/limits.md; a number without one counts things.
var units = map[string]int64{
	"": 1, "bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20,
	"second": int64(time.Second), "seconds": int64(time.Second), "minute": int64(time.Minute), "minutes": int64(time.Minute),
}

func parseLimit(s string) (value int64, ok bool) {
	number, unit, _ := strings.Cut(s, " ")
	n, err := strconv.ParseInt(number, 10, 64)
	return n * units[unit], err == nil && units[unit] != 0
}

// hole replaces each verb of fmt and matches any value.
const hole = "\x00"

var verbs = regexp.MustCompile(`%[-+#0]*[0-9]*(\.[0-9*]+)?[a-zA-Z]`)

// messagePattern returns a pattern for the texts, with holes for verbs, that can print a message.
func messagePattern(message string) *regexp.Regexp {
	pattern := regexp.QuoteMeta(strings.Trim(message, "… "))
	pattern = strings.ReplaceAll(pattern, "…", ".*")
	pattern = regexp.MustCompile(`[0-9]+(m0s|s)?`).ReplaceAllString(pattern, "($0|"+hole+")")
	return regexp.MustCompile("(?s)" + pattern)
}

func mayPrint(texts []string, message string) bool {
	pattern := messagePattern(message)
	for _, text := range texts {
		if pattern.MatchString(verbs.ReplaceAllString(text, hole)) {
			return true
		}
	}
	return false
}

func matches(rows []*regexp.Regexp, text string) bool {
	for _, r := range rows {
		if r.MatchString(text) {
			return true
		}
	}
	return false
}

// literals returns the strings of the program, those joined by + as one.
func literals(t *testing.T) (all []string) {
	t.Helper()
	for _, c := range placedLiterals(t) {
		all = append(all, c.text)
	}
	return all
}

// placedLiterals is literals with the file and line of each.
func placedLiterals(t *testing.T) (all []comment) {
	t.Helper()
	for _, f := range sources(t) {
		if f.test || supports(f.pkg) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if x, ok := n.(ast.Expr); ok {
				if text := joined(x); text != "" {
					all = append(all, comment{f.set.Position(x.Pos()).String(), text})
					return false
				}
			}
			return true
		})
	}
	return all
}

// joined returns the text of string literals joined by +, with a hole for other operands;
// "" for other expressions.
func joined(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(x.Value); err == nil && x.Kind == token.STRING {
			return text
		}
	case *ast.BinaryExpr:
		left, right := joined(x.X), joined(x.Y)
		if x.Op == token.ADD && (left != "" || right != "") {
			return cmp.Or(left, hole) + cmp.Or(right, hole)
		}
	}
	return ""
}

// consts are the constants of the program, as PACKAGE.NAME.
type consts map[string]ast.Expr

func constants(t *testing.T) consts {
	t.Helper()
	all := consts{}
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				for i := range spec.Values {
					all[f.pkg+"."+spec.Names[i].Name] = spec.Values[i]
				}
			}
			return true
		})
	}
	return all
}

// int returns the value of a constant in bytes, nanoseconds or things; -1 if it has none.
func (c consts) int(name string) int64 {
	n, ok := constant.Int64Val(c.value(path.Dir(name)+"/"+strings.SplitN(path.Base(name), ".", 2)[0], c[name]))
	if !ok {
		return -1
	}
	return n
}

// value evaluates an expression of a package.
func (c consts) value(pkg string, x ast.Expr) constant.Value {
	switch x := x.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(x.Value, x.Kind, 0)
	case *ast.Ident:
		return c.value(pkg, c[pkg+"."+x.Name])
	case *ast.SelectorExpr:
		return c.selected(x)
	case *ast.BinaryExpr:
		left, right := c.value(pkg, x.X), c.value(pkg, x.Y)
		if n, ok := constant.Uint64Val(right); ok && x.Op == token.SHL {
			return constant.Shift(left, x.Op, uint(n))
		}
		if op := x.Op; op == token.QUO {
			return constant.BinaryOp(left, token.QUO_ASSIGN, right) // whole numbers
		}
		return constant.BinaryOp(left, x.Op, right)
	}
	return constant.MakeUnknown()
}

// selected evaluates a constant of another package, or a unit of time.
func (c consts) selected(x *ast.SelectorExpr) constant.Value {
	home, ok := x.X.(*ast.Ident)
	switch {
	case !ok:
		return constant.MakeUnknown()
	case home.Name == "time":
		return constant.MakeInt64(map[string]int64{
			"Millisecond": int64(time.Millisecond), "Second": int64(time.Second), "Minute": int64(time.Minute), "Hour": int64(time.Hour),
		}[x.Sel.Name])
	}
	for name, value := range c {
		if pkg, found := strings.CutSuffix(name, "."+x.Sel.Name); found && path.Base(pkg) == home.Name {
			return c.value(pkg, value)
		}
	}
	return constant.MakeUnknown()
}
