package check

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// The forms of a problem: "a.go:3:5: text" of most compilers, and "a.ts(3,5): error TS1: text".
var (
	colons = lazyregexp.New(`^(?:vet: )?([^\s:(][^:(]*):(\d+)(?::(\d+))?: (.+)$`)
	parens = lazyregexp.New(`^([^\s(][^(]*)\((\d+),(\d+)\): (.+)$`)
)

// mostProblems is the number of problems of one output.
const mostProblems = 1000

// problems returns the problems that the output of a command in dir names.
func problems(output, dir string) (out []confirm.Problem) {
	for l := range strings.Lines(output) {
		l = strings.TrimRight(l, "\r\n")
		m := colons.FindStringSubmatch(l)
		if m == nil {
			m = parens.FindStringSubmatch(l)
		}
		if m == nil || len(out) == mostProblems {
			continue
		}
		path := m[1]
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		text := m[4]
		warning := strings.HasPrefix(strings.ToLower(text), "warning")
		out = append(out, confirm.Problem{Path: path, Line: number(m[2]), Column: number(m[3]), Warning: warning, Text: text})
	}
	return out
}

// number parses a decimal number, and returns 0 for anything else.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// compare returns the result of a command with a change, after, less the problems without it,
// before. A problem is the same one on another line.
func compare(after, before outcome) confirm.CheckResult {
	res := confirm.CheckResult{Output: after.output}
	if !after.failed {
		return res
	}
	type key struct{ path, text string }
	old := map[key]int{}
	for _, p := range before.problems {
		old[key{p.Path, p.Text}]++
	}
	for _, p := range after.problems {
		if k := (key{p.Path, p.Text}); old[k] > 0 {
			old[k]--
			res.Same++
			continue
		}
		res.Problems = append(res.Problems, p)
	}
	for _, n := range old {
		res.Gone += n
	}
	if len(after.problems) == 0 {
		if res.Broken = !before.failed; !res.Broken {
			res.Missing = "already failed before this change"
		}
	}
	return res
}
