package tools

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// editCase is an edit in testdata/edits.json: of one text, or else of several or by a
// diff.
type editCase struct {
	Name    string
	File    string
	Old     string
	New     string
	Edits   []m
	Diff    string
	Want    string   // the file's text after the call
	Need    []string // the lines of the file that the message of a refusal holds
	Refused bool     // whatever the message
}

// call is a call of a tool for the file f.
type call struct {
	tool string
	args m
}

// calls returns the calls that mean the edit: one of edit_file, and if it replaces whole
// lines, patches in each format.
func (c editCase) calls() []call {
	switch {
	case c.Diff != "":
		return []call{{"patch", m{"path": "f", "diff": c.Diff}}}
	case c.Edits != nil:
		return []call{{"edit_file", m{"path": "f", "edits": c.Edits}}}
	}
	out := []call{{"edit_file", m{"path": "f", "old_string": c.Old, "new_string": c.New}}}
	if !strings.HasSuffix(c.Old, "\n") || c.New != "" && !strings.HasSuffix(c.New, "\n") || strings.HasPrefix(c.Old, "\n") {
		return out
	}
	hunk := prefixed("-", c.Old) + prefixed("+", c.New)
	return append(out,
		call{"patch", m{"path": "f", "diff": "<<<<<<< SEARCH\n" + c.Old + "=======\n" + c.New + ">>>>>>> REPLACE\n"}},
		call{"patch", m{"path": "f", "diff": "--- a/f\n+++ b/f\n@@ @@\n" + hunk}},
		call{"patch", m{"diff": "*** Begin Patch\n*** Update File: f\n" + hunk + "*** End Patch\n"}})
}

// prefixed puts prefix before each line of s.
func prefixed(prefix, s string) string {
	lines := strings.SplitAfter(s, "\n")
	return prefix + strings.Join(lines[:len(lines)-1], prefix)
}

// TestEditTable makes the edits of testdata/edits.json in files with either line ending
// and with both: no edit is made wrongly, each safe one is made, and of the refusals at
// least nine in ten show the model all lines that it needs.
func TestEditTable(t *testing.T) {
	data, err := os.ReadFile("testdata/edits.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []editCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, nil)
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, By: "test"}
	calls, shown, refusals := 0, 0, 0
	for _, c := range cases {
		for _, ending := range []string{"LF", "CRLF", "mixed"} {
			for form, call := range c.calls() {
				calls++
				b.write("f", endLines(c.File, ending))
				res := b.call(call.tool, call.args)
				b.check(fmt.Sprintf("%s (%s, form %d)", c.Name, ending, form), c, ending, res)
				if c.Want != "" || c.Need == nil {
					continue
				}
				refusals++
				if holdsAll(res.ForModel, c.Need) {
					shown++
				} else {
					t.Logf("%s (%s, form %d): %d bytes lack a line:\n%s", c.Name, ending, form, len(res.ForModel), res.ForModel)
				}
			}
		}
	}
	t.Logf("%d cases, %d calls; %d of %d refusals show all lines", len(cases), calls, shown, refusals)
	if shown*10 < refusals*9 {
		t.Errorf("%d of %d refusals show all lines", shown, refusals)
	}
}

// check fails unless the file holds the wanted text, or is unchanged after a refusal.
func (b *bench) check(at string, c editCase, ending string, res Result) {
	b.Helper()
	after := b.read("f")
	switch {
	case c.Want != "":
		if res.Failed || lf(after) != c.Want {
			b.Errorf("%s: %s\n%s\nwant\n%s", at, res.ForModel, after, c.Want)
		}
		if before := endLines(c.File, ending); !keepsEndings(before, after) {
			b.Errorf("%s: a line that is not edited has another ending:\n%q\nwas\n%q", at, after, before)
		}
		if ending == "CRLF" && strings.Count(after, "\n") != strings.Count(after, "\r\n") {
			b.Errorf("%s: not every line ends in CRLF: %q", at, after)
		}
	case !res.Failed || after != endLines(c.File, ending):
		b.Errorf("%s: was made: %s\n%s", at, res.ForModel, after)
	}
}

// keepsEndings reports whether the lines before and behind an edit end as before it.
func keepsEndings(before, after string) bool {
	x, y := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	from := 0
	for from < min(len(x), len(y)) && lf(x[from]) == lf(y[from]) {
		if x[from] != y[from] {
			return false
		}
		from++
	}
	for i := 1; i <= min(len(x), len(y))-from && lf(x[len(x)-i]) == lf(y[len(y)-i]); i++ {
		if x[len(x)-i] != y[len(y)-i] {
			return false
		}
	}
	return true
}

// holdsAll reports whether the first 1,500 bytes of message hold all lines.
func holdsAll(message string, lines []string) bool {
	message = message[:min(len(message), 1500)]
	for _, l := range lines {
		if !strings.Contains(message, strings.TrimSpace(l)) {
			return false
		}
	}
	return true
}

// endLines ends the lines of s, or every second one, in CRLF.
func endLines(s, ending string) string {
	if ending == "LF" {
		return s
	}
	lines := strings.SplitAfter(s, "\n")
	for i, l := range lines {
		if ending == "CRLF" || i%2 == 0 {
			lines[i] = strings.Replace(l, "\n", "\r\n", 1)
		}
	}
	return strings.Join(lines, "")
}
