package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const head = `# Security report

This page is written by ` + "`make security-report`" + ` from the output of the tests; nobody edits
it. A goal counts as run with the load that its test reported, on the given day; what has
not been run is shown as **not run**. No failure in 10,000 runs still allows a true rate of
0.03 % (95 % confidence), and none in 1,000,000 one of 0.0003 %.
`

const attacks = `
## Published attacks

Mechanisms of attacks on agents, editors and shells that apply to this program. Each case
succeeds with its guard replaced by the weaker one that was attacked, in the test only, and
fails with the program's own guard.

| attack | guard | test | result | date |
|---|---|---|---|---|
`

const others = `
## Attacks that do not apply

| mechanism | why |
|---|---|
`

// render returns the page.
func (r results) render() string {
	var b strings.Builder
	b.WriteString(head)
	for _, part := range goals {
		fmt.Fprintf(&b, "\n## %s\n\n| goal | load asked for | test | load really run | result | date |\n|---|---|---|---|---|---|\n", part.part)
		for _, g := range part.goals {
			if len(g.tests) == 0 {
				fmt.Fprintf(&b, "| %s | %s | | | **not run** | |\n", g.words, g.load)
			}
			for i, n := range g.tests {
				words, load := g.words, g.load
				if i > 0 {
					words, load = "", ""
				}
				fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", words, load, test(n.String()), r.last(n.String()))
			}
		}
	}
	b.WriteString(attacks)
	for _, key := range slices.SortedFunc(maps.Keys(r.Bypasses), func(x, y string) int {
		return cmp.Or(cmp.Compare(r.Bypasses[x].Guard, r.Bypasses[y].Guard), cmp.Compare(r.Bypasses[x].Attack, r.Bypasses[y].Attack))
	}) {
		c := r.Bypasses[key]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(c.Attack), cell(c.Guard), test(key), c.word(), c.Date)
	}
	b.WriteString(others)
	for _, a := range absent {
		fmt.Fprintf(&b, "| %s | %s |\n", a.mechanism, a.why)
	}
	return b.String()
}

// last returns the cells about the last run of a test.
func (r results) last(key string) string {
	got, ran := r.Tests[key]
	if !ran {
		return "| **not run** |"
	}
	return cell(got.Load) + " | " + got.word() + " | " + got.Date
}

// word returns the result as a word.
func (r result) word() string {
	if r.Passed {
		return "passed"
	}
	return "**failed**"
}

// test returns the name of a test, without the case in it, and its package.
func test(key string) string {
	if name, ok := strings.CutPrefix(key, extension+"."); ok {
		return "`" + name + "` in `" + extension + "`"
	}
	pkg, name, _ := strings.Cut(key, ".Test")
	name, _, _ = strings.Cut(name, "/")
	return "`Test" + name + "` in `" + pkg + "`"
}

// cell escapes text for a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
