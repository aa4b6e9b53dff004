package tools

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// editCase is a call of edit_file in testdata/edits.json.
type editCase struct {
	Name    string
	File    string
	Old     string
	New     string
	Want    string   // the file's text after the call
	Need    []string // the lines of the file that the message of a refusal holds
	Refused bool     // whatever the message
}

// TestEditTable makes the calls of testdata/edits.json in files with either line ending
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
	shown, refusals := 0, 0
	for _, c := range cases {
		for _, ending := range []string{"LF", "CRLF", "mixed"} {
			b.write("f", endLines(c.File, ending))
			res := b.call("edit_file", m{"path": "f", "old_string": c.Old, "new_string": c.New})
			at := fmt.Sprintf("%s (%s)", c.Name, ending)
			after := b.read("f")
			switch {
			case c.Want != "":
				if res.Failed || lf(after) != c.Want {
					t.Errorf("%s: %s\n%s\nwant\n%s", at, res.ForModel, after, c.Want)
				}
				if ending == "CRLF" && strings.Count(after, "\n") != strings.Count(after, "\r\n") {
					t.Errorf("%s: not every line ends in CRLF: %q", at, after)
				}
			case !res.Failed || after != endLines(c.File, ending):
				t.Errorf("%s: was made: %s\n%s", at, res.ForModel, after)
			case c.Need != nil:
				refusals++
				if holdsAll(res.ForModel, c.Need) {
					shown++
				} else {
					t.Logf("%s: %d bytes lack a line:\n%s", at, len(res.ForModel), res.ForModel)
				}
			}
		}
	}
	t.Logf("%d cases; %d of %d refusals show all lines", len(cases), shown, refusals)
	if shown*10 < refusals*9 {
		t.Errorf("%d of %d refusals show all lines", shown, refusals)
	}
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
