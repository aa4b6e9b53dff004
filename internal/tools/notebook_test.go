package tools

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// book returns a notebook with code cells of the given sources: with lists set, each is
// stored as a list of lines.
func book(t *testing.T, lists bool, sources ...string) string {
	t.Helper()
	cells := make([]m, len(sources))
	for i, s := range sources {
		cells[i] = m{"cell_type": "code", "execution_count": nil, "metadata": m{}, "outputs": []m{}, "source": s}
		if lists {
			lines := strings.SplitAfter(s, "\n")
			if last := len(lines) - 1; lines[last] == "" {
				lines = lines[:last]
			}
			cells[i]["source"] = lines
		}
	}
	data, err := json.MarshalIndent(m{"cells": cells, "metadata": m{}, "nbformat": 4, "nbformat_minor": 4}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestCellKeepsItsLineEndings: new lines of a cell end as its others do, and those of a
// cell without line endings, or of a new one, as in the nearest cell.
func TestCellKeepsItsLineEndings(t *testing.T) {
	cells := []string{"abc\r\ndef\r\nghi", "one", "", "x\ny\n"}
	for name, tt := range map[string]struct {
		args m
		want []string
	}{
		"a part": {
			m{"cell": "1", "old_string": "def\n", "new_string": "def\nX\n"},
			[]string{"abc\r\ndef\r\nX\r\nghi", "one", "", "x\ny\n"},
		},
		"the whole": {
			m{"cell": "1", "new_string": "abc\ndef\nghi2"},
			[]string{"abc\r\ndef\r\nghi2", "one", "", "x\ny\n"},
		},
		"a part of one line": {
			m{"cell": "2", "old_string": "one", "new_string": "one\ntwo"},
			[]string{"abc\r\ndef\r\nghi", "one\r\ntwo", "", "x\ny\n"},
		},
		"the whole, empty before": {
			m{"cell": "3", "new_string": "a\nb"},
			[]string{"abc\r\ndef\r\nghi", "one", "a\r\nb", "x\ny\n"},
		},
		"CRLF sent for LF": {
			m{"cell": "4", "new_string": "x\r\nz\r\n"},
			[]string{"abc\r\ndef\r\nghi", "one", "", "x\nz\n"},
		},
		"a new cell at the start": {
			m{"cell": "code after 0", "new_string": "a\nb"},
			[]string{"a\r\nb", "abc\r\ndef\r\nghi", "one", "", "x\ny\n"},
		},
		"a new cell in the middle": {
			m{"cell": "code after 2", "new_string": "a\nb"},
			[]string{"abc\r\ndef\r\nghi", "one", "a\r\nb", "", "x\ny\n"},
		},
		"a new cell at the end": {
			m{"cell": "code after 4", "new_string": "a\r\nb"},
			[]string{"abc\r\ndef\r\nghi", "one", "", "x\ny\n", "a\nb"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tt.args["path"] = "n.ipynb"
			got, ok := newBench(t, nil).edited(book(t, true, cells...), "edit_file", tt.args)
			if s := sources(t, got); !ok || fmt.Sprintf("%q", s) != fmt.Sprintf("%q", tt.want) {
				t.Errorf("%q (%v), want %q", s, ok, tt.want)
			}
		})
	}
}

// sources returns the source of each cell of a notebook that stores lists.
func sources(t *testing.T, text string) []string {
	t.Helper()
	var n struct{ Cells []struct{ Source []string } }
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range n.Cells {
		out = append(out, strings.Join(c.Source, ""))
	}
	return out
}

// TestMixedCellWithoutAnAnswer: the model is not sent to edit_lines, which counts the
// lines of the file.
func TestMixedCellWithoutAnAnswer(t *testing.T) {
	b := newBench(t, map[string]string{"n.ipynb": book(t, true, "a\r\nb\nc\n")})
	b.ask.verdict = confirm.Verdict{Unasked: true}
	res := b.call("edit_file", m{"path": "n.ipynb", "cell": "1", "old_string": "b\nc", "new_string": "b\nd"})
	b.want(res, true, "mixes line endings", "with a part of one line, or with the cell's whole new source")
	if strings.Contains(res.ForModel, "edit_lines") {
		t.Error(res.ForModel)
	}
}

// TestEditsOfEncodedCells: editing a cell with other line endings is the same as editing
// it with \n and converting it.
func TestEditsOfEncodedCells(t *testing.T) {
	cases, seed := generated(t)
	b := newBench(t, nil)
	made := map[string]int{}
	for i := range cases {
		g := &edits{rand.New(rand.NewPCG(seed, uint64(i)))}
		plain := []string{g.lines(5) + "\n", g.lines(5), g.lines(1), g.lines(5)}
		g.Shuffle(len(plain), func(i, j int) { plain[i], plain[j] = plain[j], plain[i] })
		kind, n, args := g.callOnCell(plain)
		// A list is written with a line for each \n, and new cells have lists.
		f := form{"CRLF", workspace.Format{EOL: "\r\n"}}
		lists := g.IntN(3) > 0
		if !lists && kind != "new" && g.IntN(2) == 0 {
			f = form{"CR", workspace.Format{EOL: "\r"}}
		}
		at := fmt.Sprintf("seed %d, case %d: %s of cell %d of %q (%s) with %q", seed, i, kind, n+1, plain, f.name, args)
		before := book(t, lists, plain...)
		want, ok := b.edited(before, "edit_file", args)
		if g.IntN(3) == 0 { // often enough for each kind in any 300 cases
			b.mixedCell(g, at, lists, plain, n, want, ok, args)
			made[kind+" mixed"]++
			continue
		}
		encoded := func(s string) string {
			return strings.ReplaceAll(s, `\n`, strings.Trim(fmt.Sprintf("%q", f.format.EOL), `"`))
		}
		got, did := b.edited(encoded(before), "edit_file", g.asSent(args, f))
		if did != ok || got != encoded(want) {
			t.Fatalf("%s:\n%s (%v), want\n%s (%v)", at, got, did, encoded(want), ok)
		}
		if ok {
			made[kind]++
		}
	}
	for _, kind := range []string{"part", "whole", "new", "deletion"} {
		if made[kind] < cases/30 || made[kind+" mixed"] < cases/100 {
			t.Errorf("%s: %d edits of %d, %d of mixed cells", kind, made[kind], cases, made[kind+" mixed"])
		}
	}
	t.Logf("%d cases, seed %d: %v", cases, seed, made)
}

// callOnCell returns the arguments of an edit of the cell with index n.
func (g *edits) callOnCell(cells []string) (kind string, n int, args m) {
	n = g.IntN(len(cells))
	fill := g.lines(4)
	args = m{"path": "n.ipynb", "cell": fmt.Sprint(n + 1), "new_string": fill}
	switch kind = g.pick("part", "part", "part", "whole", "new", "deletion"); kind {
	case "part":
		args["replace_all"] = g.IntN(3) == 0
		args["old_string"], args["new_string"] = g.replacement(cells[n], fill)
	case "new":
		args["cell"] = fmt.Sprintf("markdown after %d", n+g.IntN(2))
	case "deletion":
		args = m{"path": "n.ipynb", "cell": fmt.Sprintf("delete %d", n+1)}
	}
	return kind, n, args
}

// mixedCell makes the edit on cells with mixed line endings. Only line endings may differ
// from the plain form, and a match by lines of a mixed cell is reported.
func (b *bench) mixedCell(g *edits, at string, lists bool, plain []string, n int, want string, ok bool, args m) {
	b.Helper()
	mixed := make([]string, len(plain))
	for i, s := range plain {
		mixed[i] = g.mix(s)
	}
	got, did := b.edited(book(b.T, lists, mixed...), "edit_file", args)
	if did != ok || strings.ReplaceAll(got, `\r\n`, `\n`) != want {
		b.Fatalf("%s, mixed as %q:\n%s (%v), want\n%s (%v)", at, mixed, got, did, want, ok)
	}
	old, _ := args["old_string"].(string)
	crlf := strings.Count(mixed[n], "\r\n")
	if !did || !strings.Contains(old, "\n") || crlf == 0 || crlf == strings.Count(mixed[n], "\n") {
		return
	}
	req := b.ask.asked[len(b.ask.asked)-1]
	if !req.Force || !strings.Contains(fmt.Sprint(req.Notes), "The text matched only after") {
		b.Fatalf("%s, mixed as %q: the question says %q, force %v", at, mixed, req.Notes, req.Force)
	}
}
