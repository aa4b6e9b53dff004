package undo_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/text"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// pieces is a random file of pieces with unchanged lines between them.
type pieces struct {
	r        *rand.Rand
	was, now []string // the text of each piece before and after the edit
	later    []string // after a later edit, which leaves the edited ones alone
	format   workspace.Format
}

func newPieces(r *rand.Rand) *pieces {
	p := &pieces{r: r, format: workspace.Format{Encoding: workspace.UTF8, EOL: "\n"}}
	if r.IntN(2) == 0 {
		p.format.EOL = "\r\n"
	}
	switch r.IntN(3) {
	case 0:
		p.format.BOM = true
	case 1:
		p.format.Encoding = workspace.Latin1
	}
	changed := r.IntN(2) == 0
	for i := range 2 + r.IntN(6) {
		was := p.lines(fmt.Sprint("old ", i), r.IntN(3))
		now, later := was, was
		switch {
		case i == 0 || r.IntN(3) > 0:
			now = p.lines(fmt.Sprint("new ", i), 1+r.IntN(3))
			later = now
		case changed:
			later = p.lines(fmt.Sprint("later ", i), 1+r.IntN(3))
		}
		p.was, p.now, p.later = append(p.was, was), append(p.now, now), append(p.later, later)
	}
	return p
}

// lines returns n lines. Now and then one has another ending.
func (p *pieces) lines(what string, n int) string {
	var b strings.Builder
	for i := range n {
		eol := p.format.EOL
		if p.r.IntN(8) == 0 {
			eol = "\n"
		}
		fmt.Fprintf(&b, "%s é %d%s", what, i, eol)
	}
	return b.String()
}

// text joins pieces.
func (p *pieces) text(all []string) string {
	var b strings.Builder
	for i, s := range all {
		for k := range 4 {
			fmt.Fprintf(&b, "samé %d %d%s", i, k, p.format.EOL)
		}
		b.WriteString(s)
	}
	return b.String()
}

func (p *pieces) bytes(t *testing.T, all []string) string {
	t.Helper()
	data, err := text.Encode(p.text(all), p.format)
	must(t, err)
	return string(data)
}

// TestUndoOfHunks takes back random hunks of a random edit, also after a later one: the file is exactly the one without these hunks, and a redo brings them back.
func TestUndoOfHunks(t *testing.T) {
	s := stress.Seed(t)
	r := rand.New(rand.NewPCG(s, 1))
	for range 60 {
		p := newPieces(r)
		w := open(t)
		w.Write("f", p.bytes(t, p.was))
		w.Edit("f", p.text(p.now), turn(1))
		edited := w.Content("f")
		if p.text(p.later) != p.text(p.now) {
			w.Edit("f", p.text(p.later), turn(2))
		}
		before := w.Content("f")
		log, err := undo.Read(t.Context(), w.Root)
		must(t, err)
		entries := log.List(undo.Scope{}, 5)
		first := entries[len(entries)-1]
		plan, err := log.Plan(undo.Scope{Entry: first.ID, Merge: true})
		must(t, err)
		c := plan.Changes[0]
		d := diff.Lines(c.Text, c.After)
		back := map[int]bool{}
		want := append([]string(nil), p.later...)
		for i := range d.Edits {
			back[i] = r.IntN(2) == 0
		}
		at := 0
		for i := range p.was {
			if p.was[i] != p.now[i] {
				if back[at] {
					want[i] = p.was[i]
				}
				at++
			}
		}
		if at != len(d.Edits) {
			continue // two pieces came out as one edit, or one as two
		}
		part, err := plan.With(map[int]string{0: d.Compose(func(i int) bool { return back[i] })})
		must(t, err)
		must(t, part.Do(t.Context()))
		if got := w.Content("f"); got != p.bytes(t, want) {
			t.Fatalf("seed %d: %v taken back of %q: %q, want %q", s, back, edited, got, p.bytes(t, want))
		}
		w.undo(undo.LastUndo)
		if got := w.Content("f"); got != before {
			t.Fatalf("seed %d: after redo: %q, want %q", s, got, before)
		}
	}
}

// TestUndoAfterAPart: the next undo takes back the rest, and each redo one step.
func TestUndoAfterAPart(t *testing.T) {
	const was, now, part = "a\n1\n2\n3\nb\n", "A\n1\n2\n3\nB\n", "A\n1\n2\n3\nb\n"
	w := open(t)
	w.Write("f", was)
	w.Edit("f", now, turn(1))
	plan, err := undo.Find(t.Context(), w.Root, undo.Scope{})
	must(t, err)
	plan, err = plan.With(map[int]string{0: part})
	must(t, err)
	must(t, plan.Do(t.Context()))
	log, err := undo.Read(t.Context(), w.Root)
	must(t, err)
	nets, err := log.Net(t.Context(), undo.Scope{Range: undo.Everything})
	must(t, err)
	if len(nets) != 1 || nets[0].Before != was || nets[0].After != part || nets[0].Others {
		t.Errorf("net effect %+v", nets)
	}
	for _, step := range []struct {
		what undo.Range
		want string
	}{{undo.LastChange, was}, {undo.LastUndo, part}, {undo.LastUndo, now}, {undo.LastTurn, was}} {
		w.undo(step.what)
		if got := w.Content("f"); got != step.want {
			t.Fatalf("after %v: %q, want %q", step.what, got, step.want)
		}
	}
}

// TestUndoKeepsLaterChanges undoes random edits of files that somebody else changed
// elsewhere in between: each later change stays, through undo and redo, also if it came
// between the two.
func TestUndoKeepsLaterChanges(t *testing.T) {
	s := stress.Seed(t)
	r := rand.New(rand.NewPCG(s, 2))
	for range 60 {
		p := newPieces(r)
		w := open(t)
		w.Write("f", p.bytes(t, p.was))
		w.Edit("f", p.text(p.now), turn(1))
		w.Write("f", p.bytes(t, p.later))
		plan, err := undo.Find(t.Context(), w.Root, undo.Scope{Merge: true})
		must(t, err)
		want := append([]string(nil), p.later...)
		for i := range p.was {
			if p.was[i] != p.now[i] {
				want[i] = p.was[i]
			}
		}
		if merged := p.text(p.later) != p.text(p.now); merged != (len(plan.Merged) == 1) {
			t.Fatalf("seed %d: merged %q", s, plan.Merged)
		}
		must(t, plan.Do(t.Context()))
		if got := w.Content("f"); got != p.bytes(t, want) {
			t.Fatalf("seed %d: after undo: %q, want %q", s, got, p.bytes(t, want))
		}
		const more = "at the top\nand\nmore\n"
		w.Write("f", more+strings.TrimPrefix(w.Content("f"), "\ufeff"))
		plan, err = undo.Find(t.Context(), w.Root, undo.Scope{Range: undo.LastUndo, Merge: true})
		if p.format.BOM {
			continue // it is gone
		}
		must(t, err)
		must(t, plan.Do(t.Context()))
		if got := w.Content("f"); got != more+p.bytes(t, p.later) {
			t.Fatalf("seed %d: after redo: %q, want %q", s, got, more+p.bytes(t, p.later))
		}
		if _, err := undo.Find(t.Context(), w.Root, undo.Scope{Range: undo.LastUndo}); !errors.Is(err, undo.ErrNothing) {
			t.Fatalf("seed %d: a second redo: %v", s, err)
		}
	}
}

// TestUndoLeavesWhatWasChangedSince: a hunk whose lines somebody else changed stays, and is
// named; with no other hunk, the file is refused.
func TestUndoLeavesWhatWasChangedSince(t *testing.T) {
	w := open(t)
	w.Write("f", "a\n1\n2\n3\nb\n")
	w.Edit("f", "A\n1\n2\n3\nB\n", turn(1))
	w.Edit("f", "mine\n1\n2\n3\nB\n", turn(2))
	log, err := undo.Read(t.Context(), w.Root)
	must(t, err)
	scope := undo.Scope{Entry: log.List(undo.Scope{}, 5)[1].ID, Merge: true, Hunks: true}
	plan, err := log.Plan(scope)
	must(t, err)
	if len(plan.Kept) != 1 || !strings.HasPrefix(plan.Kept[0], "f: 1 of its hunks") {
		t.Errorf("kept %q", plan.Kept)
	}
	must(t, plan.Do(t.Context()))
	if got, want := w.Content("f"), "mine\n1\n2\n3\nb\n"; got != want {
		t.Errorf("after undo: %q, want %q", got, want)
	}
	w.Write("f", "mine\n1\n2\n3\nmine\n")
	if _, err := undo.Find(t.Context(), w.Root, scope); !errors.Is(err, workspace.ErrStale) {
		t.Errorf("undo of changed lines: %v", err)
	}
}
