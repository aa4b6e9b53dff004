package edit

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestReplace(t *testing.T) {
	tests := []struct {
		name, text, before, after string
		opt                       Options
		want                      Result
	}{
		{"exact", "a b c\n", "b", "x", Options{}, Result{Text: "a x c\n", Stage: Exact, Places: 1, Line: 1}},
		{"exact, later line", "a\nb\nc\n", "b\nc", "x", Options{}, Result{Text: "a\nx\n", Stage: Exact, Places: 1, Line: 2}},
		{"all", "a a a\n", "a", "b", Options{All: true}, Result{Text: "b b b\n", Stage: Exact, Places: 3, Line: 1}},
		{"all, disjoint", "aaa", "aa", "b", Options{All: true}, Result{Text: "ba", Stage: Exact, Places: 1, Line: 1}},
		{"delete", "a\nb\nc\n", "b\n", "", Options{}, Result{Text: "a\nc\n", Stage: Exact, Places: 1, Line: 2}},
		{"one line in a CRLF file", "a\r\nb\r\n", "b", "x\ny", Options{EOL: "\r\n"}, Result{Text: "a\r\nx\r\ny\r\n", Stage: Exact, Places: 1, Line: 2}},
		{
			"lines of a CRLF file", "a\r\nb\r\nc\r\n", "a\nb\n", "a\nx\ny\n",
			Options{EOL: "\r\n"},
			Result{Text: "a\r\nx\r\ny\r\nc\r\n", Stage: LineEndings, Places: 1, Line: 2},
		},
		{
			"mixed endings stay", "a\nb\r\nc\n", "a\nb\nc\n", "a\nb\nd\n",
			Options{EOL: "\n"},
			Result{Text: "a\nb\r\nd\n", Stage: MixedEndings, Places: 1, Line: 3},
		},
		{
			"from one line into the next of a CRLF file", "a\r\nb\r\n", "a\nb\n", "aX\nc\n",
			Options{EOL: "\r\n"},
			Result{Text: "aX\r\nc\r\n", Stage: LineEndings, Places: 1, Line: 1},
		},
		{
			"before a line ending of a CRLF file", "f(a\r\n)\r\n", "f(a\n)", "f(a, b\n)()",
			Options{EOL: "\r\n"},
			Result{Text: "f(a, b\r\n)()\r\n", Stage: LineEndings, Places: 1, Line: 1},
		},
		{
			"lines of a CR file", "a\rb\rc\r", "a\nb\n", "a\nx\ny\n",
			Options{EOL: "\r"},
			Result{Text: "a\rx\ry\rc\r", Stage: LineEndings, Places: 1, Line: 2},
		},
		{
			"one line of a file that mixes endings", "a\nb\r\nc\n", "b", "x",
			Options{EOL: "\n"},
			Result{Text: "a\nx\r\nc\n", Stage: Exact, Places: 1, Line: 2},
		},
		{
			"CRLF sent for an LF file", "a\nb\nc\n", "a\r\nb\r\n", "a\r\nx\r\n",
			Options{EOL: "\n"},
			Result{Text: "a\nx\nc\n", Stage: LineEndings, Places: 1, Line: 2},
		},
		{
			"trailing blanks in the file stay", "if x {  \n\ty()\t\n}\n", "if x {\n\ty()\n}", "if x {\n\tz()\n}",
			Options{EOL: "\n"},
			Result{Text: "if x {  \n\tz()\t\n}\n", Stage: Blanks, Places: 1, Line: 2},
		},
		{
			"trailing blanks in the request", "a\nb\nc\n", "a  \nb \n", "a\nx\n",
			Options{EOL: "\n"},
			Result{Text: "a\nx\nc\n", Stage: Blanks, Places: 1, Line: 2},
		},
		{
			"shift in", "func f() {\n\t\ta()\n\t\tb()\n}\n", "a()\nb()\n", "a()\nif c {\n\td()\n}\n\nb()\n",
			Options{EOL: "\n"},
			Result{Text: "func f() {\n\t\ta()\n\t\tif c {\n\t\t\td()\n\t\t}\n\n\t\tb()\n}\n", Stage: Indentation, Places: 1, Line: 3},
		},
		{
			"shift out", "a()\n  b()\n", "    a()\n      b()\n", "    a()\n      c()\n",
			Options{EOL: "\n"},
			Result{Text: "a()\n  c()\n", Stage: Indentation, Places: 1, Line: 2},
		},
		{
			"shift in a CRLF file", "x\r\n\ta\r\n\tb\r\n", "a\nb", "a\nc\nd",
			Options{EOL: "\r\n"},
			Result{Text: "x\r\n\ta\r\n\tc\r\n\td\r\n", Stage: Indentation, Places: 1, Line: 3},
		},
		{
			"shift at an open end", "x\n\ta\n\tb", "a\nb", "a\nc",
			Options{EOL: "\n"},
			Result{Text: "x\n\ta\n\tc", Stage: Indentation, Places: 1, Line: 3},
		},
		{
			"an unchanged line between changed ones keeps its blanks", "a\nkeep\t \nb\n", "a \nkeep  \nb\n", "A\nkeep  \nB\n",
			Options{EOL: "\n"},
			Result{Text: "A\nkeep\t \nB\n", Stage: Blanks, Places: 1, Line: 1},
		},
		{
			"it keeps its quotes", "a\nsay “hi”\nb – c\n", "a\nsay \"hi\"\nb - c\n", "A\nsay \"hi\"\nB - c\n",
			Options{EOL: "\n"},
			Result{Text: "A\nsay “hi”\nB – c\n", Stage: Typographic, Places: 1, Line: 1},
		},
		{
			"it keeps its blanks when shifted", "\ta\n\tkeep \n\tb\n", "a\nkeep\nb\n", "A\nkeep\nB\n",
			Options{EOL: "\n"},
			Result{Text: "\tA\n\tkeep \n\tB\n", Stage: Indentation, Places: 1, Line: 1},
		},
		{
			"it keeps its line ending", "a\nkeep\r\nb\n", "a\nkeep\nb\n", "A\nkeep\nB\n",
			Options{EOL: "\n"},
			Result{Text: "A\nkeep\r\nB\n", Stage: MixedEndings, Places: 1, Line: 1},
		},
		{
			"a blank line of the file is replaced with its blanks", "a \n  \nb\n", "a\n\nb\n", "a\nx\nb\n",
			Options{EOL: "\n"},
			Result{Text: "a \nx\nb\n", Stage: Blanks, Places: 1, Line: 2},
		},
		{
			"a line ending at the edge does not join lines", "x\nfoo\ny\n", "\nfoo\n", "bar\n",
			Options{EOL: "\n"},
			Result{Text: "x\nbar\ny\n", Stage: EdgeLine, Places: 1, Line: 2},
		},
		{
			"nor one at the end", "x\nfoo\ny\n", "foo\n", "bar",
			Options{EOL: "\n"},
			Result{Text: "x\nbar\ny\n", Stage: EdgeLine, Places: 1, Line: 2},
		},
		{
			"nor when a line is deleted", "x\nfoo\ny\n", "\nfoo\n", "",
			Options{EOL: "\n"},
			Result{Text: "x\ny\n", Stage: EdgeLine, Places: 1, Line: 2},
		},
		{"a deletion with either line ending", "x\nfoo\ny\n", "\nfoo", "", Options{}, Result{Text: "x\ny\n", Stage: Exact, Places: 1, Line: 1}},
		{"a blank line is deleted", "x\n\nfoo\ny\n", "\nfoo\n", "bar\n", Options{}, Result{Text: "x\nbar\ny\n", Stage: Exact, Places: 1, Line: 2}},
		{"lines are joined on purpose", "f()\n{\n", "\n{", " {", Options{}, Result{Text: "f() {\n", Stage: Exact, Places: 1, Line: 1}},
		{
			"punctuation stays where nothing changes", "say “hi” – now\nrest\n", `say "hi" - now`, `say "hi" - later`,
			Options{EOL: "\n"},
			Result{Text: "say “hi” – later\nrest\n", Stage: Typographic, Places: 1, Line: 1},
		},
		{
			"no-break space", "a\u00a0b c\n", "a b c", "a b d",
			Options{EOL: "\n"},
			Result{Text: "a\u00a0b d\n", Stage: Typographic, Places: 1, Line: 1},
		},
		{
			"characters are not cut in half", "x é–\n", "x é-", "x è-",
			Options{EOL: "\n"},
			Result{Text: "x è–\n", Stage: Typographic, Places: 1, Line: 1},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Replace(tt.text, tt.before, tt.after, tt.opt)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Result{}, "Matched")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestReplaceRefuses(t *testing.T) {
	tests := []struct {
		name, text, before, after string
		want                      []string
	}{
		{"twice", "a\nb\na\n", "a\n", "x\n", []string{"2 places (lines 1, 3)", "exact match", "replace_all"}},
		{"the same lines with both endings", "a\nb\nc\r\na\r\nb\r\n", "a\nb\n", "x\n", []string{"2 places (lines 1, 4)", "mixes line endings"}},
		{"overlapping is ambiguous", "aaa", "aa", "b", []string{"2 places"}},
		{"twice after shifting", "\tx\n\ty\n\tx\n\ty\n", "  x\n  y\n", "z", nil},
		{"ambiguous at a loose stage", "x y \nq\nx y\t\nq\n", "x y\nq\n", "z", []string{"2 places (lines 1, 3)", "blanks"}},
		{"uneven indentation", " a\n   b\n", "a\nb\n", "c\n", []string{"not found", "·a", "···b"}},
		{
			"near lines are shown with tabs", "func f() {\n\treturn someValue\n}\n", "    return  someValues", "x",
			[]string{"not found, neither exactly", "- | ····return  someValues", "+2 | →return someValue"},
		},
		{"done already", "alpha beta\nreturn newName\n", "return oldNamf", "return newName", []string{"is already at line 2"}},
		{"case is never ignored", "Hello\n", "hello", "bye", []string{"not found", "1 | Hello"}},
		{"trimmed blanks end a line", "x = y\n", "x = \t", "z", []string{"not found"}},
		{"no line is joined without a blank line", "x\nfoo\ny\n", "\nfoo\n\n", "bar\n\n", []string{"not found", "2 | foo"}},
		{
			"the last line ending would join lines", "x = 1  # todo\ny = 2\n", "  # todo\n", "",
			[]string{"found at line 1, but new_string lacks the line ending at the end of old_string", "join line 2 to the text before it", "end new_string with one"},
		},
		{
			"the line ending of several lines", "x = 1  # a\n# b\ny = 2\n", "  # a\n# b\n", "",
			[]string{"found at line 1", "join line 3 to the text before it"},
		},
		{
			"the first line ending would join lines", "x = 1\n\ny = 2\n", "\n\ny = 2\n", "z\n",
			[]string{"found at line 1", "at the beginning of old_string", "join line 1 to the text after it", "begin new_string with one"},
		},
		{"nothing alike", strings.Repeat("abc\n", 500), "zzzz", "q", []string{"not found", "Read the file"}},
		{"only blanks", "abc\n", "\t\t", "q", []string{"not found"}},
		{"longer than the file", "abc", "abc\nabc\nabc", "q", []string{"not found"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Replace(tt.text, tt.before, tt.after, Options{EOL: "\n"})
			var match *MatchError
			if !errors.As(err, &match) {
				t.Fatalf("error %v, want a *MatchError", err)
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("message lacks %q:\n%s", w, err)
				}
			}
		})
	}
}

// disturb returns block with a model's typical mistakes, and the stage that still finds
// it.
func disturb(t *rapid.T, lines []string) ([]string, Stage) {
	out := make([]string, len(lines))
	switch stage := rapid.SampledFrom([]Stage{Exact, Blanks, Indentation, Typographic}).Draw(t, "stage"); stage {
	case Blanks:
		for i, l := range lines {
			out[i] = l + rapid.SampledFrom([]string{"", " ", "\t "}).Draw(t, "blanks")
		}
		return out, stage
	case Indentation:
		for i, l := range lines {
			out[i] = "    " + l
		}
		return out, stage
	case Typographic:
		for i, l := range lines {
			out[i] = strings.NewReplacer("“", `"`, "–", "-").Replace(l)
		}
		return out, stage
	default:
		copy(out, lines)
		return out, stage
	}
}

// Bytes outside the match stay identical at any stage, as do lines that the request did
// not change.
func TestReplaceLeavesTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z“–]{1,6}`)
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		noise := rapid.SampledFrom([]string{"", "  ", "\t", " \t"})
		draw := func(label string) []string {
			var out []string
			for range rapid.IntRange(1, 4).Draw(t, label) {
				out = append(out, rapid.SampledFrom([]string{"", "\t", "  "}).Draw(t, "indent")+word.Draw(t, label)+"#"+label)
			}
			return out
		}
		rest := func(label string) string {
			var b strings.Builder
			for _, l := range draw(label) {
				b.WriteString(l + noise.Draw(t, "noise") + rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "any eol"))
			}
			return b.String()
		}
		head, tail := rest("head"), rest("tail")
		block := draw("block")
		sent, stage := disturb(t, block)
		replaced := append([]string{}, sent...)
		replaced[len(replaced)-1] = strings.Repeat(" ", 4) + "NEW"

		text := head + strings.Join(block, eol) + eol + tail
		got, err := Replace(text, strings.Join(sent, "\n")+"\n", strings.Join(replaced, "\n")+"\n", Options{EOL: eol})
		var match *MatchError
		if errors.As(err, &match) && match.Places > 1 {
			return // the block happens to occur in the noise too
		}
		if err != nil {
			t.Fatalf("%s: %v\n%q", stage, err, text)
		}
		kept := strings.Join(block[:len(block)-1], eol)
		if len(block) > 1 {
			kept += eol
		}
		if !strings.HasPrefix(got.Text, head+kept) || !strings.HasSuffix(got.Text, eol+tail) {
			t.Fatalf("%s changed more than the match:\n%q\n%q", got.Stage, text, got.Text)
		}
		middle := got.Text[len(head+kept) : len(got.Text)-len(eol+tail)]
		if strings.TrimSpace(middle) != "NEW" {
			t.Fatalf("replacement is %q", middle)
		}
	})
}

// plain and origins agree: any range of the plain text maps to bytes whose plain form
// contains it.
func TestOriginsInvertPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(
			[]string{"a", "b", " ", "\t", "\r", "\n", "\r\n", "“", "é", "\xff", " \n"})).Draw(t, "text"), "")
		stage := rapid.SampledFrom([]Stage{Blanks, Typographic}).Draw(t, "stage")
		whole := plain(text, stage)
		if whole == "" {
			return
		}
		start := rapid.IntRange(0, len(whole)-1).Draw(t, "start")
		end := rapid.IntRange(start+1, len(whole)).Draw(t, "end")
		mapped := origins(text, stage, []int{start, end})
		from, to := mapped[start], mapped[end]
		if from < 0 || to < from || to > len(text) {
			t.Fatalf("[%d,%d) of %q maps to [%d,%d) of %q", start, end, whole, from, to, text)
		}
		// The mapped bytes simplify back to the range, except around characters that
		// stand for several bytes.
		if stage != Typographic && plain(text[from:to]+"|", stage) != whole[start:end]+"|" &&
			!strings.Contains(plain(text[from:to], stage), strings.TrimRight(whole[start:end], " \t\r\n")) {
			t.Fatalf("[%d,%d) of %q maps to %q of %q", start, end, whole, text[from:to], text)
		}
	})
}

func TestVisible(t *testing.T) {
	tests := map[string]string{
		"\t  x y\t ":   "→··x y→·",
		"   ":          "···",
		"":             "",
		"a\u00a0b":     `a\u{a0}b`,
		"a\u200bb\x1b": `a\u{200b}b\u{1b}`,
		"x\r":          `x\r`,
	}
	for in, want := range tests {
		if got := Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}
