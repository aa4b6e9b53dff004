package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// refused returns the error of a replacement that must fail.
func refused(t *testing.T, text, before, after string) *MatchError {
	t.Helper()
	out, err := Replace(text, before, after, Options{EOL: "\n"})
	var match *MatchError
	if !errors.As(err, &match) {
		t.Fatalf("%+v, error %v; want a *MatchError", out, err)
	}
	return match
}

// A model that sent the wrong text sees the right one.
func TestNearest(t *testing.T) {
	long := make([]string, 40)
	for i := range long {
		long[i] = fmt.Sprintf("\tstatement(%d)", i)
	}
	tests := []struct {
		name, text, before string
		want               []string
	}{
		{
			"best first", "alpha = compute(a)\nother\nalpha = compute(a, b)\n", "alpha = compute(a, b);\n",
			[]string{"3 | alpha = compute(a, b)\n", "1 | alpha = compute(a)\n"},
		},
		{
			"two places at most", "value one\nvalue two\nvalue six\nvalue ten\n", "value zzz\n",
			[]string{"1 | value one\n", "2 | value two\n"},
		},
		{
			"as many lines as were sent", "{\n\tname: x,\n\tsize: y,\n}\n", "{\n  name: x,\n\tsize:  y,\n}\n",
			[]string{"1 | {\n2 | →name: x,\n3 | →size: y,\n4 | }\n"},
		},
		{
			"the line that says most decides", "}\nreturn computeTheTotal(items)\n}\n", "}\nreturn computeTheTotal(item)\n}\n",
			[]string{"1 | }\n2 | return computeTheTotal(items)\n3 | }\n"},
		},
		{
			"not before the file's first line", "return computeTheTotal(items)\nx\n", "a\nb\nreturn computeTheTotals\n",
			[]string{"1 | return computeTheTotal(items)\n"},
		},
		{
			"not behind its last", "x\nreturn computeTheTotal(items)\n", "return computeTheTotals\na\nb\n",
			[]string{"2 | return computeTheTotal(items)\n"},
		},
		{
			"eight lines of a long block", strings.Join(long, "\n"), strings.Join(long, ";\n"),
			[]string{
				"11 | →statement(10)\n12 | →statement(11)\n13 | →statement(12)\n14 | →statement(13)\n" +
					"15 | →statement(14)\n16 | →statement(15)\n17 | →statement(16)\n18 | →statement(17)\n",
			},
		},
		{"what hides is shown", "call(a,\u00a0b)\u200b \n", "call(a,b)!", []string{"1 | call(a,\\u{a0}b)\\u{200b}·\n"}},
		{"nothing alike", "completely\ndifferent\n", "0123456789", nil},
		{"nothing sent but blanks", "a\n", " \t\n \n", nil},
		{"an empty file", "", "a", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := refused(t, tt.text, tt.before, "new text").Nearest
			if tt.name == "eight lines of a long block" { // which of forty like lines is nearest is no matter
				if len(got) == 0 || strings.Count(got[0], "\n") != nearShown {
					t.Errorf("%q", got)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The search for similar lines is bounded.
func TestNearestIsBounded(t *testing.T) {
	filler := strings.Repeat("0\n", nearLines-1)
	if got := refused(t, filler+"return total\n", "return totals\n", "x").Nearest; len(got) != 1 {
		t.Errorf("the last line that is looked at: %q", got)
	}
	if got := refused(t, filler+"0\nreturn total\n", "return totals\n", "x").Nearest; len(got) != 0 {
		t.Errorf("a line behind it: %q", got)
	}
	wide := strings.Repeat("ab", nearWidth)
	got := refused(t, wide+"\n", wide+"c", "x").Nearest
	if len(got) != 1 || len(got[0]) > nearWidth+20 {
		t.Errorf("a wide line: %q", got)
	}
}

func TestMatchErrorTellsTheNextStep(t *testing.T) {
	err := refused(t, "func f() {\n\treturn one\n\treturn two\n}\n", "  return  ones\n", "\treturn two\n")
	want := `not found; tried: exact match, ignoring blanks at line ends, shifting the indentation, ignoring typographic punctuation.
The replacement is already at line 3: this edit may have been made before.
Nearest lines of the file (→ is a tab, · a blank):
2 | →return one
--
3 | →return two

Read the file and send its exact text.`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err.Places != 0 || err.Done != 3 {
		t.Errorf("%+v", err)
	}
	if again := refused(t, "a\n\nb\n", "no such line", "\n"); again.Done != 0 {
		t.Errorf("blanks stand everywhere, and say nothing: line %d", again.Done)
	}
}

// The error for an ambiguous text lists its lines once, at most ten.
func TestAmbiguousPlaces(t *testing.T) {
	tests := []struct {
		name, text, before string
		places             int
		lines              []int
		says               string
	}{
		{"lines", "x\na\nx\n", "x\n", 2, []int{1, 3}, "found in 2 places (lines 1, 3) by exact match"},
		{"twice in a line", "x x\nx\n", "x", 3, []int{1, 2}, "found in 3 places (lines 1, 2)"},
		{"many", strings.Repeat("x\n", 15), "x", 15, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "found in 15 places"},
		{"at a loose stage", "“x”\n\"y\"\n”x„\n", `"x"`, 2, []int{1, 3}, "by ignoring typographic punctuation"},
		{"shifted", "\tx\n\ty\n-\n\t\tx\n\t\ty\n", "x\ny\n", 2, []int{1, 4}, "by shifting the indentation"},
		{"in CRLF", "x\r\ny\r\nx\r\ny\r\n", "x\ny\n", 2, []int{1, 3}, "by converting line endings"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := refused(t, tt.text, tt.before, "z")
			if err.Places != tt.places || !slices.Equal(err.Lines, tt.lines) {
				t.Errorf("%d places, lines %v; want %d, %v", err.Places, err.Lines, tt.places, tt.lines)
			}
			if !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "set replace_all") {
				t.Errorf("message %q lacks %q", err, tt.says)
			}
			if _, err := Replace(tt.text, tt.before, "z", Options{All: true, EOL: "\n"}); err != nil {
				t.Errorf("with replace_all: %v", err)
			}
		})
	}
}
