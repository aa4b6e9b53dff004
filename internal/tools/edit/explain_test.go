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

// A model that sent the wrong text sees how the right one differs.
func TestNearest(t *testing.T) {
	tests := []struct {
		name, text, before string
		want               []string
	}{
		{
			"best first", "alpha = compute(a)\nother\nalpha = compute(a, b)\n", "alpha = compute(a, b);\n",
			[]string{"- | alpha = compute(a, b);\n+3 | alpha = compute(a, b)\n", "- | alpha = compute(a, b);\n+1 | alpha = compute(a)\n"},
		},
		{
			"two places at most", "value one\nvalue two\nvalue six\nvalue ten\n", "value zzz\n",
			[]string{"- | value zzz\n+1 | value one\n", "- | value zzz\n+2 | value two\n"},
		},
		{
			"as many lines as were sent", "{\n\tname: x,\n\tsize: y,\n}\n", "{\n  name: x,\n\tsize;  z,\n}\n",
			[]string{" 1 | {\n- | ··name: x,\n- | →size;  z,\n+2 | →name: x,\n+3 | →size: y,\n 4 | }\n"},
		},
		{
			"all lines decide", "}\nlog(computeTheTotal(items))\nreturn a\n}\nb\nb\nlog(computeTheTotal(item))\nother()\n",
			"log(computeTheTotal(item))\nreturn a\n}\nb\n",
			[]string{" 1 | }\n- | log(computeTheTotal(item))\n+2 | log(computeTheTotal(items))\n 3 | return a\n 4 | }\n 5 | b\n 6 | b\n 7 | log(computeTheTotal(item))\n 8 | other()\n"},
		},
		{
			"a line was left out", "one(1)\ntwo(2)\nthree(3)\nfour(4)\n", "one(1)\nthree(3)\nfour(4)\n",
			[]string{" 1 | one(1)\n+2 | two(2)\n 3 | three(3)\n 4 | four(4)\n"},
		},
		{
			"not before the file's first line", "return computeTheTotal(items)\nx\n", "a\nb\nreturn computeTheTotals\n",
			[]string{"- | a\n- | b\n- | return computeTheTotals\n+1 | return computeTheTotal(items)\n 2 | x\n"},
		},
		{
			"not behind its last", "x\nreturn computeTheTotal(items)\n", "return computeTheTotals\na\nb\n",
			[]string{" 1 | x\n- | return computeTheTotals\n- | a\n- | b\n+2 | return computeTheTotal(items)\n"},
		},
		{"what hides is shown", "call(a,\u00a0b)\u200b \n", "call(a,b)!", []string{"- | call(a,b)!\n+1 | call(a,\\u{a0}b)\\u{200b}·\n"}},
		{"nothing alike, but short", "completely\ndifferent\n", "0123456789", []string{"completely\ndifferent\n"}},
		{"nothing alike", strings.Repeat("completely\ndifferent\n", 100), "0123456789", nil},
		{"nothing sent but blanks", "a\n", " \t\n \n", nil},
		{"an empty file", "", "a", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, n := range refused(t, tt.text, tt.before, "new text").Nearest {
				_, diff, _ := strings.Cut(n, "\n")
				got = append(got, diff)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A long block of which every line differs is shown whole if it fits: without the lines sent,
// then without visible blanks. Only then its middle is left out.
func TestNearestOfALongBlock(t *testing.T) {
	for _, tt := range []struct {
		lines int
		form  string
	}{
		{10, "- as sent, + as in the file"}, {30, "+ differs from what was sent"}, {50, "exactly:"}, {100, "exactly:"}, {300, "are left out: read them"},
	} {
		var text, sent strings.Builder
		for i := range tt.lines {
			fmt.Fprintf(&text, "\t\t\tstatement(%d)\n", i)
			fmt.Fprintf(&sent, "\t\t\tstatement(%d);\n", i)
		}
		message := refused(t, text.String(), sent.String(), "new text").Error()
		if len(message) > maxMessage || !strings.Contains(message, tt.form) {
			t.Errorf("%d lines: %d bytes without %q:\n%s", tt.lines, len(message), tt.form, message)
		}
		for i := range tt.lines {
			shown := strings.Contains(message, fmt.Sprintf("statement(%d)\n", i))
			if !shown && (tt.lines < 300 || i < 20 || i > 280) {
				t.Errorf("line %d of %d is not in the message:\n%s", i, tt.lines, message)
			}
		}
	}
}

// Of a long block of which few lines differ, these come first, then its exact text.
func TestNearestOfAFewLines(t *testing.T) {
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("\t\t\tstatement(%d, %[1]d)", i))
	}
	text := strings.Join(lines, "\n") + "\n"
	message := refused(t, text, strings.Replace(text, "(57, 57)", "(57)", 1), "new text").Error()
	want := `not found, neither exactly nor with a safe difference.
Nearest lines of the file (- as sent, + as in the file; → is a tab, · a blank):
[lines 1 to 54 are as sent]
 55 | →→→statement(54, 54)
 56 | →→→statement(55, 55)
 57 | →→→statement(56, 56)
- | →→→statement(57)
+58 | →→→statement(57, 57)
 59 | →→→statement(58, 58)
 60 | →→→statement(59, 59)
Nearest lines of the file, 1 to 60, exactly:
` + text + "Send the file's exact text."
	if diff := cmp.Diff(want, message); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A line that is wider than the whole message is cut around the difference.
func TestNearestOfAWideLine(t *testing.T) {
	text := strings.Repeat("a b c ", 1000) + "the end" + strings.Repeat(" x y z", 1000) + "\n"
	message := refused(t, text, strings.Replace(text, "the end", "an end", 1), "new text").Error()
	if len(message) > 1000 || !strings.Contains(message, "[…]") || !strings.Contains(message, "a b c the end x y z") {
		t.Errorf("%d bytes: %s", len(message), message)
	}
}

// Many faults of one call are named, but not all explained.
func TestFaultsAreBounded(t *testing.T) {
	var text, patch strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "value := compute(the, number, %d)\n", i)
		fmt.Fprintf(&patch, "@@\n-value = compute(the, number, %d)\n+value := 1\n", i)
	}
	p, err := parseOne(patch.String())
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Apply(text.String(), "\n")
	if err == nil || strings.Count(err.Error(), "not found") != 60 || len(err.Error()) > maxFaults+60*100 {
		t.Errorf("%v", err)
	}
}

// The text that a deletion leaves was there before it.
func TestADeletionIsNeverDone(t *testing.T) {
	for _, tt := range []struct{ name, text, before, after string }{
		{"of lines", "a()\nc()\n", "a()\nb()\nx()\n", "a()\n"},
		{"of lines in the middle", "a()\nc()\n", "a()\nb()\nc()\n", "a()\nc()\n"},
		{"of lines here and there", "a()\nc()\ne()\n", "a()\nb()\nc()\nd()\ne()\n", "a()\nc()\ne()\n"},
		{"in a line", "f(x)\n", "f(x, nope)", "f(x)"},
		{"of everything", "f(x)\n", "nope", ""},
	} {
		if err := refused(t, tt.text, tt.before, tt.after); err.Done != 0 {
			t.Errorf("%s: done at line %d", tt.name, err.Done)
		}
	}
	if err := refused(t, "returned\n", "nope", "return"); err.Done != 0 {
		t.Errorf("a part of a word: done at line %d", err.Done)
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
	if len(got) != 1 || len(got[0]) > 2*nearWidth+120 {
		t.Errorf("a wide line: %q", got)
	}
}

func TestMatchErrorTellsTheNextStep(t *testing.T) {
	err := refused(t, "func f() {\n\treturn one\n\treturn two\n}\n", "  return  ones\n", "\treturn two\n")
	want := `not found, neither exactly nor with a safe difference.
The replacement is already at line 3: this edit may have been made before.
Nearest lines of the file (- as sent, + as in the file; → is a tab, · a blank):
- | ··return  ones
+2 | →return one
Send the file's exact text.`
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
		{"lines", "x\na\nx\n", "x\n", 2, []int{1, 3}, "found in 2 places (lines 1, 3) by exact match: add surrounding lines until it is unique, or set replace_all.\nThe places (+; → is a tab, · a blank):\n+1 | x\n 2 | a\n 3 | x\n--\n 1 | x\n 2 | a\n+3 | x"},
		{"twice in a line", "x x\nx\n", "x", 3, []int{1, 2}, "found in 3 places (lines 1, 2)"},
		{"many", strings.Repeat("x\n", 15), "x", 15, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "found in 15 places"},
		{"at a loose stage", "“x”\n\"y\"\n”x„\n", `"x"`, 2, []int{1, 3}, "by ignoring typographic characters"},
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
