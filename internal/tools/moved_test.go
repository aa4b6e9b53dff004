package tools

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// TestMovedFileIsMerged: each writing tool merges its edit with a change of the same file,
// and writes it after another yes only.
func TestMovedFileIsMerged(t *testing.T) {
	const theirs, base = "zero\n", "one\ntwo\nthree\n"
	each(t, func(b *bench, tool string, args m, after string) {
		b.ask.during = func(confirm.Request) { b.write("f", theirs+base) }
		b.want(b.call(tool, args), false, "Wrote f", "shown again", "+zero")
		if got := b.read("f"); got != theirs+after {
			b.Errorf("the file holds %q, want %q", got, theirs+after)
		}
		if n := len(b.ask.asked); n != 2 {
			b.Fatalf("%d questions", n)
		}
		second := b.ask.asked[1]
		if notes := fmt.Sprint(second.Notes); !second.Force || !strings.Contains(notes, "f changed while you looked (+1 −0): merged, look again.") {
			b.Errorf("forced %v, notes %s", second.Force, notes)
		}
		if second.File().Text != theirs+base || second.File().After != theirs+after {
			b.Errorf("asked about %q to %q", second.File().Text, second.File().After)
		}

		b.write("f", base)
		b.ask.asked, b.ask.during = nil, func(req confirm.Request) {
			b.write("f", theirs+base)
			if len(b.ask.asked) == 2 {
				b.ask.verdict = confirm.Verdict{Feedback: "not like this"}
			}
		}
		b.want(b.call(tool, args), true, "The user declined this edit", "not like this", "shown again")
		if got := b.read("f"); got != theirs+base {
			b.Errorf("after a no the file holds %q", got)
		}
	})
}

// TestSavedByTheEditor: the approved text that the editor, or another program, has saved itself is no other change, whatever
// the line endings that it saves and the last of them. The user reads who it was.
func TestSavedByTheEditor(t *testing.T) {
	for saved, want := range map[string]string{
		"one\nTWO\nthree\n":       ", already saved by WHO: not in /undo",
		"one\r\nTWO\r\nthree\r\n": ", already saved by WHO with other line endings: not in /undo",
		"one\nTWO\nthree":         ", already saved by WHO with other line endings: not in /undo",
		"one\nTWO\r\nthree\n":     ", already saved by WHO with other line endings: not in /undo",
	} {
		b := newBench(t, map[string]string{"f": "one\ntwo\nthree\n"})
		b.ask.during = func(confirm.Request) { b.write("f", saved) }
		by, who := "VS Code", "the editor"
		if strings.Contains(saved, "\r") {
			by, who = confirm.Terminal, "another program"
		}
		b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, By: by}
		want = strings.Replace(want, "WHO", who, 1)
		res := b.call("edit_file", m{"path": "f", "old_string": "two", "new_string": "TWO"})
		b.want(res, false, "Wrote f")
		if !strings.HasSuffix(res.ForUser, want) || strings.Contains(res.ForModel, "other line endings") != strings.Contains(want, "endings") {
			t.Errorf("%q: the user sees %q, the model %q", saved, res.ForUser, res.ForModel)
		}
		if got := b.read("f"); got != saved || len(b.ask.asked) != 1 {
			t.Errorf("%q: the file holds %q after %d questions", saved, got, len(b.ask.asked))
		}
	}
	b := newBench(t, map[string]string{"f": "one\ntwo"})
	b.ask.during = func(confirm.Request) {
		if len(b.ask.asked) == 1 {
			b.write("f", "one\r\ntwo")
		}
	}
	b.call("edit_file", m{"path": "f", "old_string": "two", "new_string": "two\n"})
	if got := b.read("f"); len(b.ask.asked) != 2 || !strings.HasSuffix(got, "two\r\n") {
		t.Errorf("a change of the last line ending: the file holds %q after %d questions", got, len(b.ask.asked))
	}
}

// TestMovedUnderARule: a rule that approves the edit of a file approves its merge.
func TestMovedUnderARule(t *testing.T) {
	b := newBench(t, map[string]string{"f": "one\ntwo\nthree\n"})
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, By: "rule", Rule: true}
	b.ask.during = func(confirm.Request) { b.write("f", "zero\none\ntwo\nthree\n") }
	b.want(b.call("edit_file", m{"path": "f", "old_string": "three", "new_string": "3"}), false, "Wrote f")
	if len(b.ask.asked) != 2 || b.ask.asked[1].Force {
		t.Errorf("asked %+v", b.ask.asked)
	}
}

func TestMovedConflictIsTold(t *testing.T) {
	b := newBench(t, map[string]string{"f": "one\ntwo\nthree\nfour\n", ".env": "A=1\nB=2\n"})
	b.ask.during = func(confirm.Request) { b.write("f", "zero\none\nzwei\nthree\nfour\n") }
	res := b.call("edit_file", m{"path": "f", "old_string": "two", "new_string": "TWO"})
	b.want(res, true, "around line 3:", "     3\tzwei\n", "Before both changes:\ntwo\nIn the edit:\nTWO\n")
	if want := "line 3: was `two`, is `zwei`, the edit has `TWO`"; !strings.Contains(res.ForUser, want) {
		t.Errorf("the user sees %q", res.ForUser)
	}
	if got := b.read("f"); got != "zero\none\nzwei\nthree\nfour\n" {
		t.Errorf("the file holds %q", got)
	}
	b.ask.during = func(confirm.Request) { b.write(".env", "A=canary\nB=2\n") }
	res = b.call("edit_file", m{"path": ".env", "old_string": "A=1", "new_string": "A=2"})
	b.want(res, true, "Read the file again")
	if strings.Contains(res.ForModel+res.ForUser, "canary") {
		t.Errorf("a file with keys was told: %+v", res)
	}
}

// TestMovedKeepsWords: the user's text and feedback at the first question reach the model
// although another question followed.
func TestMovedKeepsWords(t *testing.T) {
	b := newBench(t, map[string]string{"f": "one\ntwo\nthree\n"})
	own := "one\nTWO of the user\nthree\n"
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, Texts: confirm.Text(own), Feedback: "mind the name"}
	b.ask.during = func(confirm.Request) {
		b.write("f", "one\ntwo\nthree\nfour\n")
		if len(b.ask.asked) == 2 {
			b.ask.verdict = confirm.Verdict{Decision: confirm.Approve}
		}
	}
	res := b.call("edit_file", m{"path": "f", "old_string": "two", "new_string": "TWO"})
	b.want(res, false, "+TWO of the user", "mind the name", "+four")
	if got := b.read("f"); got != own+"four\n" {
		t.Errorf("the file holds %q", got)
	}
	if !strings.Contains(res.Record.Words, "+TWO of the user") || !strings.Contains(res.Record.Words, "mind the name") {
		t.Errorf("recorded %q", res.Record.Words)
	}
}

// TestMovedEncodings: merging a file is merging its plain form, whatever its encoding and
// line endings are and become.
func TestMovedEncodings(t *testing.T) {
	const base, theirs = "één\ntwo\nthree\nfour\n", "zéro\ntwo\nthree\nfour\n"
	for i, f := range forms {
		for _, g := range []form{f, forms[(i+1)%len(forms)]} {
			b := newBench(t, map[string]string{"f": string(encoded(t, base, f))})
			b.ask.during = func(confirm.Request) { b.write("f", string(encoded(t, theirs, g))) }
			b.want(b.call("edit_lines", m{"path": "f", "start_line": 4, "end_line": 4, "new_content": "FOUR"}), false, "Wrote f")
			if got, want := b.read("f"), string(encoded(t, "zéro\ntwo\nthree\nFOUR\n", g)); got != want {
				t.Errorf("%s that became %s: %q, want %q", f.name, g.name, got, want)
			}
		}
	}
}

func encoded(t *testing.T, plain string, f form) []byte {
	t.Helper()
	data, err := text.Encode(strings.ReplaceAll(plain, "\n", f.format.EOL), f.format)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestMovedIsWrittenOnlyAfterAYes changes the file at random during random questions: it
// holds the text of the last question if the answer was yes and the file was still its
// base, or else the other program's text. So it is for the change of one file, and for the
// review of a turn.
func TestMovedIsWrittenOnlyAfterAYes(t *testing.T) {
	t.Run("one file", func(t *testing.T) { movedIsWrittenOnlyAfterAYes(newBench(t, nil)) })
	t.Run("a turn", func(t *testing.T) { movedIsWrittenOnlyAfterAYes(newBench(t, nil).gather()) })
}

func movedIsWrittenOnlyAfterAYes(b *bench) {
	t := b.T
	g := rand.New(rand.NewPCG(5, 14))
	lines := func() []string {
		out := make([]string, g.IntN(12))
		for i := range out {
			out[i] = fmt.Sprintf("line %d", g.IntN(20))
		}
		return out
	}
	join := func(lines []string) string { return strings.Join(append(lines, "end"), "\n") + "\n" }
	written, refused, merged := 0, 0, 0
	for range 1000 {
		base := lines()
		disk := join(base)
		b.write("f", disk)
		b.ask.asked = nil
		var last confirm.Verdict
		b.ask.during = func(req confirm.Request) {
			if len(b.ask.asked) < 4 && g.IntN(2) == 0 {
				at := g.IntN(len(base) + 1)
				disk = join(append(append(append([]string(nil), base[:at]...), lines()...), base[at:]...))
				b.write("f", disk)
			}
			last = confirm.Verdict{Decision: confirm.Decision(min(1, g.IntN(5))), Feedback: "x"}
			b.ask.verdict = last
		}
		at := g.IntN(len(base) + 1)
		res, err := b.settled(b.call("write_file", m{"path": "f", "content": join(append(append(append([]string(nil), base[:at]...), "new"), base[min(at+1, len(base)):]...))}), nil)
		if err != nil {
			t.Fatal(err)
		}
		want := disk
		if n := len(b.ask.asked); last.Decision == confirm.Approve && proposed(b.ask.asked[n-1]).Text == disk {
			want = proposed(b.ask.asked[n-1]).After
			written++
			merged += min(1, n-1)
		} else {
			refused++
		}
		if got := b.read("f"); got != want || (want != disk) != (len(res.Changes) > 0) {
			t.Fatalf("the file holds %q, want %q; %s", got, want, res.ForModel)
		}
	}
	t.Logf("%d written, %d of them merged, %d not", written, merged, refused)
	if written < 100 || merged < 50 || refused < 100 {
		t.Error("one of the outcomes is rare")
	}
}
