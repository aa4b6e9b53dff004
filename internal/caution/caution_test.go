package caution

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/diff"
)

func TestOf(t *testing.T) {
	blanks := strings.Repeat(" ", 50)
	for name, tt := range map[string]struct {
		before, after string
		created       bool
		want          []Note
	}{
		"an edit":            {before: "a\n", after: "b\n"},
		"nothing":            {before: "a\n", after: "a\n", want: []Note{{Empty, "nothing changes"}}},
		"an empty file":      {created: true, want: []Note{{Empty, "the file is empty"}}},
		"white space":        {before: "a b\n", after: "a  b\n", want: []Note{{Whitespace, "only white space changes"}}},
		"endings":            {before: "a\n", after: "a\r\n", want: []Note{{LineEndings, "only line endings change: LF → CRLF"}}},
		"endings too":        {before: "a\r\n", after: "b\n", want: []Note{{LineEndings, "line endings change too: CRLF → LF"}}},
		"final newline":      {before: "a\n", after: "b", want: []Note{{Whitespace, "removes the newline at the end of the file"}}},
		"hidden":             {before: "a\n", after: "a\nb\u200b\u202ec\n", want: []Note{{Hidden, "the added text holds 1 bidirectional control: line 2"}, {Hidden, "the added text holds 1 invisible character: line 2"}}},
		"odd blanks":         {before: "a\n", after: "a\u00a0b\n", want: []Note{{OddSpace, "the added text holds 1 no-break or odd blank: line 1"}}},
		"look-alikes":        {before: "a\n", after: "a\np\u0430y\n", want: []Note{{LookAlike, "the added text holds 1 look-alike letter: line 2"}}},
		"hidden, but kept":   {before: "x\u200b\na\n", after: "x\u200b\nb\n"},
		"far to the right":   {before: "a\n", after: "a" + blanks + "; evil()\n", want: []Note{{FarRight, "added text is far to the right, after a long run of blanks: line 1"}}},
		"behind tabs":        {before: "a\n", after: "a\nb //" + strings.Repeat("\t", 9) + "evil()\n", want: []Note{{FarRight, "added text is far to the right, after a long run of blanks: line 2"}}},
		"far, but kept":      {before: "a" + blanks + "b\nc\n", after: "a" + blanks + "b\nd\n"},
		"deeply indented":    {before: blanks + "a\n", after: blanks + "a\n" + blanks + "    b\n"},
		"suddenly indented":  {before: "a\n", after: "a\n" + blanks + "b\n", want: []Note{{FarRight, "added text is far to the right, after a long run of blanks: line 2"}}},
		"blanks at the end":  {before: "a\n", after: "b" + blanks + "\n"},
		"a long line":        {created: true, after: strings.Repeat("x", 1001) + "\n", want: []Note{{FarRight, "added lines are longer than 1000 characters: line 1"}}},
		"a line within that": {created: true, after: strings.Repeat("x", 1000) + "\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, Of(diff.Lines(tt.before, tt.after), tt.before, tt.after, !tt.created)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestGiven(t *testing.T) {
	notes := []Note{{Protected, "a"}, {Hidden, "b"}, {Loose, "c"}, {Other, "d"}}
	if d := cmp.Diff([]Note{{Protected, "a"}, {Loose, "c"}, {Other, "d"}}, Given(notes)); d != "" {
		t.Error(d)
	}
}

func TestInName(t *testing.T) {
	for name, want := range map[string]string{
		"cmd/main.go": "", "main.go\x20": `main.go\u{20}`, "m\u0430in.go": `m\u{430}in.go`, "a\u200bb": `a\u{200b}b`, "a\nb": `a\nb`,
	} {
		got := InName(name)
		if len(got) == 0 && want == "" {
			continue
		}
		if len(got) != 1 || got[0].Kind != Deceptive || !strings.HasSuffix(got[0].Text, want) || want == "" {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestWords(t *testing.T) {
	for s, want := range map[string]string{"a\n": "LF", "a\r\n": "CRLF", "a\r\nb\n": "mixed", "a": "LF"} {
		if got := endings(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
	for want, in := range map[string][]int{
		"line 3": {3, 3}, "lines 1, 2": {1, 2}, "lines 1, 2, 3, 4, 5, 6, 7, 8 and 2 more": {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
	} {
		if got := lineList(in); got != want {
			t.Errorf("%v: %q, want %q", in, got, want)
		}
	}
}
