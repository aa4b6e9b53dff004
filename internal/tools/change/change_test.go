package change

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/tools/access"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// asker answers each question that cannot wait, after calling during.
type asker struct {
	verdict confirm.Verdict
	during  func()
	asked   []confirm.Request
}

func (a *asker) Ask(_ context.Context, req confirm.Request) (confirm.Verdict, error) {
	if req.Later {
		return confirm.Verdict{Later: &req}, nil
	}
	if a.asked = append(a.asked, req); a.during != nil {
		a.during()
	}
	return a.verdict, nil
}

// TestPropose: a set of changes that is ready is one question, and is written whole, merged with
// later changes after another question, or not at all.
func TestPropose(t *testing.T) {
	for _, tt := range []struct {
		name      string
		verdict   confirm.Verdict
		meanwhile bool
		want      string // the files afterwards
		questions int
		told      []string
	}{
		{"yes", confirm.Verdict{Decision: confirm.Approve}, false, "a=one\nTWO\n new=n\n to=m\n", 1, []string{"Wrote a: 1 added, 1 removed", "Created new", "Deleted gone", "Moved from → to"}},
		{"without one", confirm.Verdict{Decision: confirm.Approve, Except: []int{2}}, false, "a=one\nTWO\n gone=g\n new=n\n to=m\n", 1, []string{"left out, and the disk keeps as before: gone"}},
		{"changed meanwhile", confirm.Verdict{Decision: confirm.Approve}, true, "a=zero\none\nTWO\n new=n\n to=m\n", 2, []string{"merged with the new text", "Created new"}},
		{"no", confirm.Verdict{Feedback: "why?"}, false, "a=one\ntwo\n from=m\n gone=g\n", 1, []string{"None of them was written", "why?"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := scratch.Dir(t, map[string]string{"a": "one\ntwo\n", "gone": "g\n", "from": "m\n"})
			root := scratch.Workspace(t, dir, workspace.Options{Home: t.TempDir()})
			ask := &asker{verdict: tt.verdict}
			ask.during = func() {
				if tt.meanwhile && len(ask.asked) == 1 {
					scratch.Write(t, filepath.Join(dir, "a"), "zero\none\ntwo\n")
				}
			}
			w := Writer{Deps: Deps{Files: access.Files{Root: root}, Ask: ask, Session: func() string { return "s" }}, Tool: "execute_command"}
			res, err := w.Propose(t.Context(), toolcall.Call{ID: "1", Turn: "t"}, Set{Title: "what make changed", Notes: caution.Notes("look"), Changes: readyMade(t, root)})
			if err != nil {
				t.Fatal(err)
			}
			for _, told := range tt.told {
				if !strings.Contains(res.ForModel, told) {
					t.Errorf("the model is not told %q: %s", told, res.ForModel)
				}
			}
			req := ask.asked[0]
			if edits := confirm.As[*confirm.Edits](req); len(ask.asked) != tt.questions || len(edits.Changes) != 4 || !edits.Review || edits.Title != "what make changed" || !slices.Contains(req.Notes, caution.Notes("look")[0]) {
				t.Errorf("%d questions, %+v", len(ask.asked), req)
			}
			if got := content(t, dir); got != tt.want {
				t.Errorf("the disk holds %q, want %q", got, tt.want)
			}
		})
	}
}

// TestProposeModes: the question tells of a mode and of a link, which are written with the texts;
// a text of the person's own keeps the mode.
func TestProposeModes(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{"run": "old\n", "plain": "text\n"})
	root := scratch.Workspace(t, dir, workspace.Options{Home: t.TempDir()})
	var all []workspace.Change
	for name, after := range map[string]workspace.States{
		"run":   {After: workspace.StateOf(0o755, []byte("new\n")), Content: []byte("new\n")},
		"plain": {After: workspace.StateOf(fs.ModeSymlink, []byte("run")), Content: []byte("run")},
	} {
		c, err := root.Propose(name, func(workspace.File) (string, error) { return string(after.Content), nil })
		if err != nil {
			t.Fatal(err)
		}
		if after.Before, _, err = root.Look(c.Path); err != nil {
			t.Fatal(err)
		}
		c.States = &after
		all = append(all, c)
	}
	own := slices.IndexFunc(all, func(c workspace.Change) bool { return c.Name == "run" })
	ask := &asker{verdict: confirm.Verdict{Decision: confirm.Approve, Texts: map[int]string{own: "mine\n"}}}
	w := Writer{Deps: Deps{Files: access.Files{Root: root}, Ask: ask, Session: func() string { return "s" }}, Tool: "execute_command"}
	res, err := w.Propose(t.Context(), toolcall.Call{ID: "1", Turn: "t"}, Set{Title: "all", Changes: all})
	if err != nil || res.Failed {
		t.Fatal(res, err)
	}
	asked := fmt.Sprint(ask.asked[0].Notes)
	for _, note := range []string{"run: mode -rw-", "→ -rwxr-xr-x", "plain: mode -rw", "→ L"} {
		if !strings.Contains(asked, note) || !ask.asked[0].Force {
			t.Errorf("not told %q: %s", note, asked)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "run"))
	if err != nil || info.Mode() != 0o755 || content(t, dir) != "plain=mine\n run=mine\n" {
		t.Errorf("%v, %v, %q", info, err, content(t, dir))
	}
	if target, err := os.Readlink(filepath.Join(dir, "plain")); err != nil || target != "run" {
		t.Errorf("%q, %v", target, err)
	}
}

// readyMade returns an edit, a new file, a removal and a move.
func readyMade(t *testing.T, root *workspace.Root) (all []workspace.Change) {
	t.Helper()
	for _, f := range []struct{ name, text string }{{"a", "one\nTWO\n"}, {"new", "n\n"}} {
		c, err := root.Propose(f.name, func(workspace.File) (string, error) { return f.text, nil })
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	for _, name := range []string{"gone", "from"} {
		f, err := root.Removable(name)
		if err != nil {
			t.Fatal(err)
		}
		c := workspace.Change{File: f, Delete: true}
		if name == "from" {
			c = workspace.Change{File: f, After: f.Text, To: filepath.Join(root.Dir(), "to"), ToName: "to"}
		}
		all = append(all, c)
	}
	return all
}

// content returns the files in a folder, sorted.
func content(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, d := range list {
		all = append(all, d.Name()+"="+scratch.Read(t, filepath.Join(dir, d.Name())))
	}
	return strings.Join(all, " ")
}
