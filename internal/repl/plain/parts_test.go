package plain

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// TestParts: numbers choose hunks and whole files; a text holds exactly the chosen hunks.
func TestParts(t *testing.T) {
	file := func(name string, exists bool, before, after string) workspace.Change {
		return workspace.Change{File: workspace.File{Name: name, Exists: exists, Text: before}, After: after, Delete: after == ""}
	}
	p := partsOf(&confirm.Edits{Title: "take back", Parts: true, Changes: []workspace.Change{
		file("a", true, "1\n2\n3\n4\n5\n", "one\n2\n3\n4\nfive\n"),
		file("made", false, "", "x\n"),
		file("gone", true, "1\n2\n", ""),
	}})
	if got := p.describe(); strings.Count(got, "Part ") != 4 || !strings.Contains(got, "Part 2 of 4: a\n") {
		t.Errorf("described as %q", got)
	}
	yes := func(except []int, texts map[int]string) confirm.Verdict {
		return confirm.Verdict{By: confirm.Terminal, Decision: confirm.Approve, Except: except, Texts: texts}
	}
	const first, last = "one\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n"
	for _, tt := range []struct {
		list string
		only bool
		want confirm.Verdict
		is   meaning
	}{
		{"1", true, yes([]int{1, 2}, map[int]string{0: first}), answers},
		{"2, 4", true, yes([]int{1}, map[int]string{0: last}), answers},
		{"1 2", true, yes([]int{1, 2}, map[int]string{}), answers},
		{"3 1", false, yes([]int{1}, map[int]string{0: last}), answers},
		{"1 2 3 4", false, confirm.Verdict{}, unclear},
		{"0", true, confirm.Verdict{}, unclear},
		{"5", false, confirm.Verdict{}, unclear},
		{"one", true, confirm.Verdict{}, unclear},
		{"", true, confirm.Verdict{}, unclear},
	} {
		v, is := p.verdict(tt.list, tt.only)
		if diff := cmp.Diff(tt.want, v); diff != "" || is != tt.is {
			t.Errorf("%q, only %t: meaning %d\n%s", tt.list, tt.only, is, diff)
		}
	}
}

// TestPartsAreAskedAbout: the question has the parts with their numbers, and a line with
// numbers answers it.
func TestPartsAreAskedAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := workspace.Change{File: workspace.File{Name: "a", Exists: true, Text: "1\n2\n3\n4\n5\n"}, After: "one\n2\n3\n4\nfive\n"}
		req := confirm.Request{Tool: "undo", Force: true, Subject: &confirm.Edits{Title: "take back", Parts: true, Changes: []workspace.Change{c}}}
		var v confirm.Verdict
		d := sit(t, Options{}, func(d *desk, ctx context.Context, prompt string) (err error) {
			v, err = d.askAbout(ctx, req)
			return err
		})
		d.enter("go\n")
		d.read()
		d.enter("only 2\n")
		if v.Decision != confirm.Approve || v.Texts[0] != "1\n2\n3\n4\nfive\n" || !strings.Contains(d.printed(), "Part 2 of 2: a\n") {
			t.Errorf("%+v after %q", v, d.printed())
		}
		d.leave(d.printed()+"\n", "go")
	})
}
