// Package shellline reads and writes command lines of a POSIX shell. It guarantees that no
// line, of whatever length, takes the parser more than a bounded time and stack.
package shellline

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Max is the length in bytes of the longest line that is parsed: nobody reads a longer one to
// its end.
const Max = 16 << 10

// maxNesting is the number of open brackets up to which a line is parsed: more take long.
const maxNesting = 200

// UnparsedError is the reason why a line is not parsed, as the predicate of a sentence with "it".
type UnparsedError string

func (u UnparsedError) Error() string { return string(u) }

// Parse parses a line of bash. Nothing else parses one: the parser takes more stack with each
// level of nesting, and a line of any length can come from a model. The error is an UnparsedError,
// or explains why the line is not valid.
func Parse(line string) (*syntax.File, error) {
	switch {
	case len(line) > Max:
		return nil, UnparsedError(fmt.Sprintf("it is too long to be judged: %d bytes", len(line)))
	case nesting(line) > maxNesting:
		return nil, UnparsedError("it is nested too deeply to be judged")
	}
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(line), "")
}

func nesting(line string) int {
	open, most := 0, 0
	for _, c := range []byte(line) {
		switch c {
		case '(', '[', '{':
			open++
		case ')', ']', '}':
			open = max(open-1, 0)
		}
		most = max(most, open)
	}
	return most
}

// HidesFailure reports whether a line may end with the status 0 although a command in it fails, such as the first one of a
// pipeline. It is true for a line that cannot be parsed.
func HidesFailure(line string) (hides bool) {
	file, err := Parse(line)
	if err != nil {
		return true
	}
	hides = len(file.Stmts) != 1
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			hides = hides || n.Negated
		case *syntax.BinaryCmd:
			hides = hides || n.Op != syntax.AndStmt
		case *syntax.Block, *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
			hides = true
		}
		return !hides
	})
	return hides
}

// Quote returns word in quotes, so that a POSIX shell takes it as it is.
func Quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'" }

// Line returns words as a line that starts a program with arguments.
func Line(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}
