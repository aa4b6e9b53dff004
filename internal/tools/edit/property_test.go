package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/diff"
)

// numbered draws lines that all differ, so that every match is unique.
func numbered(t *rapid.T, label string, least int) []string {
	n := rapid.IntRange(least, 12).Draw(t, label)
	lines := make([]string, n)
	for i := range lines {
		lines[i] = strings.Repeat("\t", rapid.IntRange(0, 2).Draw(t, "depth")) + fmt.Sprintf("line “%d”", i)
	}
	return lines
}

// A badly written patch (wrong line numbers, blanks lost or added, everything indented,
// quotes straightened) still gives the right text, and the stage reports how bad it is.
func TestPatchSurvivesDisturbance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := numbered(t, "lines", 3)
		after := slices.Clone(before)
		at := rapid.IntRange(1, len(after)-2).Draw(t, "at")
		after[at] = indentOf(after[at]) + "changed"
		patch := diff.Unified("f", "f", strings.Join(before, "\n")+"\n", strings.Join(after, "\n")+"\n")

		disturbed, stage := disturbPatch(t, patch)
		p, err := parseOne(disturbed)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Apply(strings.Join(before, "\n")+"\n", "\n")
		if err != nil {
			t.Fatalf("%v\n%s", err, disturbed)
		}
		if want := strings.Join(after, "\n") + "\n"; got.Text != want {
			t.Fatalf("%q, want %q\n%s", got.Text, want, disturbed)
		}
		if got.Stage != stage {
			t.Fatalf("%s, want %s\n%s", got.Stage, stage, disturbed)
		}
	})
}

func disturbPatch(t *rapid.T, patch string) (string, Stage) {
	lines := strings.Split(patch, "\n")
	stage := rapid.SampledFrom([]Stage{Exact, Blanks, Indentation, Typographic}).Draw(t, "stage")
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "@@"):
			lines[i] = fmt.Sprintf("@@ -%d,3 +1,9 @@", rapid.IntRange(1, 99).Draw(t, "number"))
		case l == "" || !strings.ContainsAny(l[:1], " +-") || strings.HasPrefix(l, "--- ") || strings.HasPrefix(l, "+++ "):
		case stage == Blanks && l[0] != '+':
			lines[i] += "  "
		case stage == Indentation:
			lines[i] = l[:1] + "    " + l[1:]
		case stage == Typographic:
			lines[i] = strings.NewReplacer("“", `"`, "”", `"`).Replace(l)
		}
	}
	return strings.Join(lines, "\n"), stage
}

// Blocks replace lines.
func TestBlocksReplaceLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		lines := numbered(t, "lines", 1)
		from := rapid.IntRange(0, len(lines)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(lines)).Draw(t, "to")
		fill := numbered(t, "fill", 0)
		join := func(lines []string, eol string) string {
			return strings.Join(append(slices.Clone(lines), ""), eol)
		}
		p, err := parseOne(block(join(lines[from:to], "\n"), join(fill, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Apply(join(lines, eol), eol)
		if err != nil {
			t.Fatal(err)
		}
		want := join(slices.Concat(lines[:from], fill, lines[to:]), eol)
		if got.Text != want {
			t.Fatalf("%q, want %q", got.Text, want)
		}
	})
}

// Replacing everything and putting it back changes nothing.
func TestReplaceAllThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"ab", "a", "b", "\n", "\r\n", " "}), 1, 30).Draw(t, "text"), "")
		there, err := Replace(text, "ab", "XYZ", Options{All: true})
		var match *MatchError
		if errors.As(err, &match) {
			if strings.Contains(text, "ab") {
				t.Fatal(err)
			}
			return
		}
		if there.Places != strings.Count(text, "ab") {
			t.Fatalf("%d places of %d", there.Places, strings.Count(text, "ab"))
		}
		back, err := Replace(there.Text, "XYZ", "ab", Options{All: true})
		if err != nil || back.Text != text {
			t.Fatalf("%q, %v; want %q", back.Text, err, text)
		}
	})
}

// The whole text is the text sent, with the file's line ending; unchanged lines keep
// theirs.
func TestWholeIsTheTextSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SampledFrom([]string{"a", "b", "\n", "\r\n"})
		before := strings.Join(rapid.SliceOfN(pieces, 0, 12).Draw(t, "before"), "")
		sent := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "\n"}), 0, 12).Draw(t, "sent"), "")
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		got := Whole(before, sent, eol)
		if strings.ReplaceAll(got, "\r\n", "\n") != sent {
			t.Fatalf("%q, want %q in whatever endings", got, sent)
		}
		if !strings.Contains(before, "\r\n") && eol == "\n" && got != sent {
			t.Fatalf("%q, want %q", got, sent)
		}
		if before != "" && !strings.Contains(strings.ReplaceAll(before, "\r\n", ""), "\n") && eol == "\r\n" &&
			strings.Contains(strings.ReplaceAll(got, "\r\n", ""), "\n") {
			t.Fatalf("line endings are mixed: %q", got)
		}
	})
}

// Lines agrees with removing lines from a list.
func TestLinesAsList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines, fill := numbered(t, "lines", 1), numbered(t, "fill", 0)
		first := rapid.IntRange(1, len(lines)).Draw(t, "first")
		last := rapid.IntRange(first-1, len(lines)).Draw(t, "last")
		got, err := Lines(strings.Join(lines, "\n")+"\n", first, last, strings.Join(fill, "\n"), "\n")
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Join(append(slices.Concat(lines[:first-1], fill, lines[last:]), ""), "\n")
		if got.Text != want {
			t.Fatalf("%q, want %q", got.Text, want)
		}
	})
}

// Input for which a naive comparison is slow is handled. A quadratic search would exceed
// the test's time.
func TestHostileTexts(t *testing.T) {
	blanks := strings.Repeat(" ", 4<<20)
	lines := strings.Repeat("x\n", 200_000)
	for name, c := range map[string]struct{ text, before string }{
		"one line of blanks":   {blanks + "x", blanks + "y"},
		"blank lines":          {strings.Repeat(" \n", 1<<20), strings.Repeat("\t\n", 10) + "y"},
		"equal lines":          {lines, strings.Repeat("x\n", 50) + "y\n"},
		"one long line":        {strings.Repeat("ab", 2<<20), strings.Repeat("ab", 1000) + "c"},
		"carriage returns":     {strings.Repeat("\r", 4<<20), "\r\ny"},
		"returns to find":      {strings.Repeat("x\n", 100_000), strings.Repeat("\r", 4<<20) + "\ny"},
		"typographic":          {strings.Repeat("“", 1<<20), strings.Repeat(`"`, 1000) + "y"},
		"invalid UTF-8":        {strings.Repeat("\xff", 1<<20), "\xffy"},
		"a long text to find":  {"x\n", strings.Repeat("y\n", 1<<20)},
		"indented differently": {strings.Repeat("\t\tx\n", 100_000), "x\n\tx\n"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Replace(c.text, c.before, "z", Options{EOL: "\n"})
			var match *MatchError
			if !errors.As(err, &match) {
				t.Fatalf("error %v", err)
			}
			if n := len(err.Error()); n > 20_000 {
				t.Errorf("the message has %d bytes", n)
			}
		})
	}
}

func TestStages(t *testing.T) {
	for s := Exact; int(s) < stageCount; s++ {
		if s.String() == "unknown" || s.Loose() != (s > LineEndings) {
			t.Errorf("stage %d: %s, loose %v", s, s, s.Loose())
		}
	}
	if got := Stage(99).String(); got != "unknown" {
		t.Error(got)
	}
}

// Offsets are mapped together as each is alone, to bytes whose form has that size, unless they are
// inside of a character.
func TestOriginsMapEachOffset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", " ", "\t", "\r", "\n", "“", "–", "é", "e\u0301", "…", "\u200b"}), 0, 20).Draw(t, "text"), "")
		stage := rapid.SampledFrom([]Stage{Blanks, Spacing, Typographic}).Draw(t, "stage")
		whole := plain(text, stage)
		offsets := rapid.SliceOf(rapid.IntRange(0, len(whole))).Draw(t, "offsets")
		got := origins(text, stage, offsets)
		for _, n := range offsets {
			at, ok := got[n]
			if alone, okAlone := origins(text, stage, []int{n})[n]; at != alone || ok != okAlone {
				t.Fatalf("%s: offset %d of %q is %d, alone %d", stage, n, text, at, alone)
			}
			inside := !ok && (stage != Typographic || utf8.RuneStart((whole + "|")[n]) && !strings.Contains(text, "…"))
			if inside || ok && plain(text[:at]+"|", stage) != whole[:n]+"|" {
				t.Fatalf("%s: offset %d of %q is %d, %v", stage, n, text, at, ok)
			}
		}
	})
}
