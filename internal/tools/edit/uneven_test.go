package edit

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Lines that are each indented in their own way are found where one place fits, and the new lines
// get the file's indentation.
func TestUneven(t *testing.T) {
	python := "def f(a):\n    for x in a:\n        if x:\n            g(x)\n    return a\n"
	braces := "func f() {\n\tif x {\n\t\tg()\n\t\th()\n\t}\n}\n"
	tests := []struct{ name, text, before, after, want string }{
		{"the first line without", python, "for x in a:\n        if x:\n            g(x)\n", "for x in b:\n        if x:\n            h(x)\n", "def f(a):\n    for x in b:\n        if x:\n            h(x)\n    return a\n"},
		{"each line off", python, "   for x in a:\n       if x:\n              g(x)\n", "   for x in a:\n       if not x:\n              g(x)\n", "def f(a):\n    for x in a:\n        if not x:\n            g(x)\n    return a\n"},
		{"two for four, and a deeper line", python, "  for x in a:\n    if x:\n      g(x)\n", "  for x in a:\n    if x:\n      try:\n        g(x)\n      finally:\n        h()\n", "def f(a):\n    for x in a:\n        if x:\n            try:\n                g(x)\n            finally:\n                h()\n    return a\n"},
		{"two for four, and a line further out", python, "    if x:\n      g(x)\n", "    if x:\n      g(x)\n  h()\n", "def f(a):\n    for x in a:\n        if x:\n            g(x)\n    h()\n    return a\n"},
		{"tabs and blanks", braces, "    if x {\n\t    g()\n\t\th()\n    }\n", "    if x {\n\t    g(1)\n\t\th()\n\t\ti()\n    }\n", "func f() {\n\tif x {\n\t\tg(1)\n\t\th()\n\t\ti()\n\t}\n}\n"},
		{"a deeper line than all", braces, "if x {\n  g()\n\t\th()\n}\n", "if x {\n  g()\n\t\tif y {\n\t\t\th()\n\t\t}\n}\n", "func f() {\n\tif x {\n\t\tg()\n\t\tif y {\n\t\t\th()\n\t\t}\n\t}\n}\n"},
		{"blanks at line ends on both sides", "a:\n    b \n        c\t\nd\n", "a:\n   b\n       c  \n", "a:\n   b\n       e\n", "a:\n    b \n        e\nd\n"},
		{"blank lines with blanks", "a:\n    b\n    \n      c\n", "a:\n  b\n\n c\n", "a:\n  b\n\n d\n", "a:\n    b\n    \n      d\n"},
		{"one level of the file for two sent", braces, "\tif x {\n\t\tg()\n\th()\n\t}\n", "\tif x {\n\t\tg()\n\th(1)\n\t}\n", "func f() {\n\tif x {\n\t\tg()\n\t\th(1)\n\t}\n}\n"},
		{"one line", "a\n\t  b()\n", " \tb()\n", " \tc()\n", "a\n\t  c()\n"},
		{"a line deleted", braces, "if x {\n   g()\n     h()\n}\n", "if x {\n     h()\n}\n", "func f() {\n\tif x {\n\t\th()\n\t}\n}\n"},
		{"in CRLF", strings.ReplaceAll(python, "\n", "\r\n"), "if x:\n     g(x)\n return a\n", "if x:\n     h(x)\n return a\n", strings.ReplaceAll(strings.Replace(python, "g(x)", "h(x)", 1), "\n", "\r\n")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			eol := "\n"
			if strings.Contains(tt.text, "\r\n") {
				eol = "\r\n"
			}
			got, err := Replace(tt.text, tt.before, tt.after, Options{EOL: eol})
			if err != nil || got.Text != tt.want || got.Stage != Uneven && !strings.Contains(tt.text, tt.before) {
				t.Errorf("%s: %q, %v; want %q", got.Stage, got.Text, err, tt.want)
			}
			p, err := parseOne(block(tt.before, tt.after))
			if err != nil {
				t.Fatal(err)
			}
			got, err = p.Apply(tt.text, eol)
			if err != nil || got.Text != tt.want || got.Stage != Uneven {
				t.Errorf("patch: %s: %q, %v; want %q", got.Stage, got.Text, err, tt.want)
			}
		})
	}
}

// They are not found where more places fit, where only brackets would say which, or if the new
// lines' indentation does not follow.
func TestUnevenRefuses(t *testing.T) {
	twice := "a:\n    b\n      c\n\nd:\n   b\n     c\n"
	for _, tt := range []struct{ name, text, before, after, says string }{
		{"two places", twice, "  b\n c\n", "x\n", "2 places (lines 2, 6) by fitting the indentation of each line: add surrounding lines until it is unique.\n"},
		{"nothing but brackets", "f() {\n\tg({\n  })\n\t}\n", "{\n   })\n}\n", "x\n", "not found"},
		{"an indentation between those sent", "a {\n\tb\n\t\tc\n}\n", "a {\n   b\n      c\n}\n", "a {\n   b\n     d\n      c\n}\n", "not found"},
		{"an indentation for two of the file", "a {\n\tb\n\t\tc\n}\n", " a {\n b\n  c\n }\n", " a {\n b\n x\n  c\n }\n", "not found"},
		{"another word", "a {\n\tb\n\t\tc\n}\n", " a {\n b\n  d\n }\n", "x\n", "not found"},
	} {
		for _, all := range []bool{false, true} {
			out, err := Replace(tt.text, tt.before, tt.after, Options{All: all})
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s: %q, %v; want %q", tt.name, out.Text, err, tt.says)
			}
		}
		p, err := parseOne("@@ -2,2 +2,1 @@\n" + prefixLines("-", tt.before) + prefixLines("+", tt.after))
		if err != nil {
			t.Fatal(err)
		}
		if out, err := p.Apply(tt.text, "\n"); err == nil {
			t.Errorf("%s: the patch gives %q", tt.name, out.Text)
		}
	}
}

func prefixLines(mark, s string) string {
	return mark + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n"+mark) + "\n"
}

// A text that differs in typographic characters changes none of those that the edit leaves alone.
func TestTypographicCharactersStay(t *testing.T) {
	for _, tt := range []struct{ name, text, before, after, want string }{
		{"quotes around a changed word", "say “hi” and “bye” to ‘x’\n", `say "hi" and "bye" to 'x'`, `say "hello" and "bye" to 'y'`, "say “hello” and “bye” to ‘y’\n"},
		{"straight ones in the file", "f(\"a\", 'b', \"c\")\n", "f(“a”, ‘b’, “c”)", "f(“a”, ‘x’, “c”)", "f(\"a\", 'x', \"c\")\n"},
		{"and in what is added", "f(\"a\")\n", "f(“a”)\n", "f(“a”)\ng(“b”)\n", "f(\"a\")\ng(\"b\")\n"},
		{"no-break blanks", "10 000 € – or 20 000 €\n", "10 000 € - or 20 000 €", "10 500 € - or 25 000 €", "10 500 € – or 25 000 €\n"},
		{"both kinds in a line", "x = “a” + \"b\" + ‘c’\n", "x = \"a\" + \"b\" + 'c'", "x = \"a\" + \"d\" + 'c' + \"e\"", "x = “a” + \"d\" + ‘c’ + \"e\"\n"},
		{"new quotes in place of the file's", "f(\"x\", \"y\")\n", "f(“x”, \"y\")", "f(\"x\", “y”, z)", "f(\"x\", \"y\", z)\n"},
		{"a quote that is meant", "say “hi”\n", `say "hi"`, "say «hi»", "say «hi»\n"},
		{"only quotes are meant", "say “hi” – x\n", `say "hi" - x`, "say ‘hi’ - x", "say ‘hi’ – x\n"},
		{"an ellipsis", "wait… and go… on\n", "wait... and go... on", "wait... and stay... on", "wait… and stay… on\n"},
		{"composed and decomposed", "cafe\u0301 naïve x\n", "café nai\u0308ve x", "café nai\u0308ve y", "cafe\u0301 naïve y\n"},
		{"invisible characters", "a\u200bb c\ufeff d\n", "ab c d", "ab c e", "a\u200bb c\ufeff e\n"},
		{"invisible ones sent", "a = b\n", "a\u200b = b", "a\u200b = \u200bc", "a = c\n"},
		{"two lines", "“a”\nx\n“b” y\n", "\"a\"\nx\n\"b\" y\n", "\"a\" z\nx\n\"b\" w\n", "“a” z\nx\n“b” w\n"},
		{"blanks between words", "a   =  b; c   =  d\n", "a = b; c = d", "a = x; c = y", "a   =  x; c   =  y\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Replace(tt.text, tt.before, tt.after, Options{})
			if err != nil || got.Text != tt.want || !got.Stage.Loose() {
				t.Errorf("%s: %q, %v; want %q", got.Stage, got.Text, err, tt.want)
			}
			p, err := parseOne(block(strings.TrimSuffix(tt.before, "\n")+"\n", strings.TrimSuffix(tt.after, "\n")+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			got, err = p.Apply(tt.text, "\n")
			if err != nil || got.Text != tt.want {
				t.Errorf("patch: %s: %q, %v; want %q", got.Stage, got.Text, err, tt.want)
			}
		})
	}
	_, err := Replace("wait… and go\n", "wait. and", "x", Options{})
	var match *MatchError
	if !errors.As(err, &match) {
		t.Errorf("a part of an ellipsis: %v", err)
	}
}

// Whatever typographic characters a file has and a model sends, an edit of words changes the words
// alone.
func TestUnchangedTokensStay(t *testing.T) {
	odd := []string{"“", "”", "‘", "’", "–", "…", "\u00a0", "é", "e\u0301", `"`, "'", "-", " ", ", ", "(", "\n"}
	as := map[string][]string{
		"“": {`"`, "”", "“"}, "”": {`"`, "”"}, "‘": {"'", "’"}, "’": {"'", "’"}, "–": {"-", "—"}, "…": {"...", "…"},
		"\u00a0": {" ", "\u202f"}, "é": {"e\u0301", "é"}, "e\u0301": {"é"}, `"`: {`"`, "“", "”"}, "'": {"'", "’"}, "-": {"-", "–"},
	}
	rapid.Check(t, func(t *rapid.T) {
		var text, before, after, want strings.Builder
		for i := range rapid.IntRange(1, 12).Draw(t, "words") {
			word := fmt.Sprintf("w%d", i)
			mark := rapid.SampledFrom(odd).Draw(t, "mark")
			sent := mark
			if forms := as[mark]; forms != nil {
				sent = rapid.SampledFrom(forms).Draw(t, "sent")
			}
			fill := word
			if rapid.IntRange(0, 2).Draw(t, "change") == 0 {
				fill = fmt.Sprintf("new%d", i)
			}
			text.WriteString("|" + mark + " " + word)
			want.WriteString("|" + mark + " " + fill)
			before.WriteString("|" + sent + " " + word)
			after.WriteString("|" + sent + " " + fill)
		}
		if strings.TrimSpace(before.String()) == "" || before.String() == after.String() {
			return
		}
		head, tail := "head\n", "\ntail\n"
		got, err := Replace(head+text.String()+tail, before.String(), after.String(), Options{})
		if err != nil || got.Text != head+want.String()+tail {
			t.Fatalf("%s: %q, %v; want %q\n%q\n%q", got.Stage, got.Text, err, want.String(), before.String(), after.String())
		}
		p, err := parseOne(block(before.String()+"\n", after.String()+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		got, err = p.Apply(head+text.String()+tail, "\n")
		if err != nil || got.Text != head+want.String()+tail {
			t.Fatalf("patch: %s: %q, %v; want %q\n%q\n%q", got.Stage, got.Text, err, want.String(), before.String(), after.String())
		}
	})
}

// Lines with any indentation find their place, and a change of words keeps the file's indentation.
func TestAnyIndentation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		var text, before, after, want strings.Builder
		text.WriteString("head:\n")
		want.WriteString("head:\n")
		for i := range 1 + r.IntN(8) {
			have := strings.Repeat([]string{"\t", "  ", " "}[r.IntN(3)], r.IntN(4))
			sent := strings.Repeat([]string{"\t", "    ", " "}[r.IntN(3)], r.IntN(4))
			end := []string{"", "", " ", "\t"}[r.IntN(4)]
			fill := i
			if r.IntN(3) == 0 {
				fill += 100
			}
			fmt.Fprintf(&text, "%sword %d\n", have, i)
			fmt.Fprintf(&want, "%sword %d\n", have, fill)
			fmt.Fprintf(&before, "%sword %d%s\n", sent, i, end)
			fmt.Fprintf(&after, "%sword %d%s\n", sent, fill, end)
		}
		if before.String() == after.String() {
			return
		}
		got, err := Replace(text.String(), before.String(), after.String(), Options{})
		lines, wanted := textLines(got.Text), textLines(want.String())
		if err != nil || len(lines) != len(wanted) {
			t.Fatalf("%s: %q, %v; want %q for %q", got.Stage, got.Text, err, want.String(), before.String())
		}
		for i, l := range lines {
			if got.Stage == Uneven && strings.TrimRight(l, " \t") != wanted[i] {
				t.Fatalf("%s: %q, want %q\n%q\n%q", got.Stage, got.Text, want.String(), before.String(), after.String())
			}
		}
	})
}
