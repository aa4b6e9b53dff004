package tools

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// desk is a connected editor: its unsaved changes, and its reports before and after a
// write.
type desk struct {
	*bench
	unsaved bool
	save    func() error
	saves   int
	before  report
	after   report
	asked   []time.Duration
	wrote   []editor.Write
	gone    string // the text before a lost edit
	mute    bool
	late    []bool // whether the time for each report was over before
}

func (d *desk) file() string { return filepath.Join(d.dir, "f") }

func (d *desk) Unsaved(_ context.Context, path string) (string, bool) {
	if path != d.file() {
		d.Errorf("asked about %s", path)
	}
	return "VS Code", d.unsaved
}

func (d *desk) Save(context.Context, string) error {
	d.saves++
	if d.save != nil {
		return d.save()
	}
	return nil
}

func (d *desk) Mute() bool { return d.mute }

func (d *desk) Report(ctx context.Context, _ string, wait time.Duration) ([]editor.Diagnostic, bool, error) {
	d.asked, d.late = append(d.asked, wait), append(d.late, ctx.Err() != nil)
	r := d.before
	if wait > 0 {
		r = d.after
	}
	return r.all, r.known, r.err
}

func (d *desk) Wrote(_ context.Context, done editor.Write) { d.wrote = append(d.wrote, done) }

func (d *desk) Lost(path, text string) string {
	if path == d.file() && text == d.gone {
		return "It is gone."
	}
	return ""
}

// TestWrites: the editor learns of each write, and a person and the model that an earlier
// edit is gone.
func TestWrites(t *testing.T) {
	each(t, func(b *bench, tool string, args m, after string) {
		d := withDesk(b)
		d.gone = "one\ntwo\nthree\n"
		final := after + "and mine\n"
		b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, Texts: confirm.Text(final), By: "Neovim"}
		b.want(b.call(tool, args), false, "Before this edit: It is gone.")
		want := []editor.Write{{Path: d.file(), Before: d.gone, After: final, By: "Neovim"}}
		if diff := cmp.Diff(want, d.wrote); diff != "" {
			b.Error(diff)
		}
		if n := b.ask.asked[0].Notes; len(n) == 0 || n[len(n)-1].Text != "It is gone." {
			b.Errorf("notes %v", n)
		}
	})
}

// withDesk connects an editor that reports nothing.
func withDesk(b *bench) *desk {
	d := &desk{bench: b, before: report{known: true}, after: report{known: true}}
	b.deps.Buffers, b.deps.Reports, b.deps.Writes = d, d, d
	b.set = NewSet(b.deps)
	return d
}

// TestUnsavedChangesAreSavedFirst: a proposal is based on what the user has typed, once
// it is saved with their consent.
func TestUnsavedChangesAreSavedFirst(t *testing.T) {
	each(t, func(b *bench, tool string, args m, after string) {
		d := withDesk(b)
		d.unsaved = true
		d.save = func() error {
			d.unsaved = false
			b.write("f", "typed\none\ntwo\nthree\n")
			return nil
		}
		if tool == "edit_lines" {
			args = m{"path": "f", "start_line": 3, "end_line": 3, "new_content": "2"}
		}
		b.want(b.call(tool, args), false, "Wrote f: ")
		want := "typed\n" + after
		if tool == "write_file" {
			want = after
		}
		if got := b.read("f"); got != want {
			b.Errorf("the file holds %q", got)
		}
		if len(b.ask.asked) != 2 || confirm.As[*confirm.Save](b.ask.asked[0]) == nil || !b.ask.asked[0].Force || b.ask.asked[1].File() == nil {
			b.Errorf("asked %+v", b.ask.asked)
		}
		if s := confirm.As[*confirm.Save](b.ask.asked[0]); s != nil && (s.Name != "f" || s.Editor != "VS Code" || s.Path != d.file()) {
			b.Errorf("%+v", s)
		}
	})
}

func TestUnsavedChangesAreNeverOverwritten(t *testing.T) {
	for name, tt := range map[string]struct {
		verdict confirm.Verdict
		save    func() error
		want    string
		saves   int
	}{
		"declined":     {confirm.Verdict{}, nil, "has unsaved changes in the user's editor, so it cannot be edited", 0},
		"cannot saved": {confirm.Verdict{Decision: confirm.Approve}, func() error { return errors.New("read-only") }, "could not be saved (read-only)", 1},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(b *bench, tool string, args m, _ string) {
				d := withDesk(b)
				d.unsaved, d.save = true, tt.save
				b.ask.verdict = tt.verdict
				b.want(b.call(tool, args), true, tt.want)
				if b.read("f") != "one\ntwo\nthree\n" || d.saves != tt.saves || len(b.ask.asked) != 1 {
					b.Errorf("%q, %d saves, %d questions", b.read("f"), d.saves, len(b.ask.asked))
				}
			})
		})
	}
}

// TestNewDiagnostics: the result reports only new diagnostics, and never calls an unknown
// file clean.
func TestNewDiagnostics(t *testing.T) {
	problem := func(line int, sev editor.Severity, msg string) editor.Diagnostic {
		return editor.Diagnostic{Path: "f", Line: line, Severity: sev, Message: msg, Source: "ts"}
	}
	old := problem(1, editor.SeverityError, "old")
	moved := problem(9, editor.SeverityError, "old")
	for name, tt := range map[string]struct {
		before, after report
		want, not     string
	}{
		"new": {
			report{all: []editor.Diagnostic{old}, known: true},
			report{all: []editor.Diagnostic{problem(3, editor.SeverityWarning, "w"), moved, problem(2, editor.SeverityError, "bad\ntype"), problem(1, editor.SeverityHint, "h")}, known: true},
			"New diagnostics since the edit:\n[error] f:2 — bad type\n[warning] f:3 — w", "old",
		},
		"twice now": {
			report{all: []editor.Diagnostic{old}, known: true},
			report{all: []editor.Diagnostic{moved, moved}, known: true},
			"since the edit:\n[error] f:9 — old", "",
		},
		"none":           {report{all: []editor.Diagnostic{old}, known: true}, report{all: []editor.Diagnostic{moved}, known: true}, "No new errors", "old"},
		"not known":      {report{known: true}, report{}, "are not known", "No new"},
		"fails":          {report{known: true}, report{err: errors.New("timeout")}, "are not known", "timeout"},
		"before unknown": {report{}, report{all: []editor.Diagnostic{old}, known: true}, "those before the edit are not known):\n[error] f:1 — old", "New"},
		"no editor":      {report{err: editor.ErrNone}, report{}, "Wrote f", "iagnostics"},
		"lost":           {report{known: true}, report{err: editor.ErrNone}, "Wrote f", "iagnostics"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": "one\ntwo\nthree\n"})
			d := withDesk(b)
			d.before, d.after = tt.before, tt.after
			res := b.call("edit_file", m{"path": "f", "old_string": "two", "new_string": "2"})
			b.want(res, false, tt.want)
			if tt.not != "" && strings.Contains(res.ForModel, tt.not) {
				b.Errorf("told %q", res.ForModel)
			}
			if d.asked[0] != 0 {
				b.Errorf("waited %v before the question", d.asked[0])
			}
		})
	}
}

// TestLateDiagnostics: diagnostics that come after the result of an edit are reported
// with the next result, once, if the model does not know them.
func TestLateDiagnostics(t *testing.T) {
	problem := func(line int, msg string) editor.Diagnostic {
		return editor.Diagnostic{Path: "f", Line: line, Severity: editor.SeverityError, Message: msg, Source: "ts"}
	}
	edited := func(b *bench, from, to string) Result {
		return b.call("edit_file", m{"path": "f", "old_string": from, "new_string": to})
	}
	b := newBench(t, map[string]string{"f": "one\ntwo\nthree\n"})
	d := withDesk(b)
	d.before = report{all: []editor.Diagnostic{problem(1, "old")}, known: true}
	d.after = report{} // not known yet
	b.want(edited(b, "two", "2"), false, "are not known")

	d.before.all = append(d.before.all, problem(2, "late"))
	if res := b.call("read_file", m{"path": "f"}); strings.Count(res.ForModel, "[error]") != 1 || !strings.Contains(res.ForModel, "New diagnostics of f, found after the result of its edit:\n[error] f:2 — late") {
		t.Errorf("told %q", res.ForModel)
	}
	if res := b.call("read_file", m{"path": "f"}); strings.Contains(res.ForModel, "[error]") {
		t.Errorf("told twice: %q", res.ForModel)
	}

	d.before.all = append(d.before.all, problem(3, "later"))
	d.after = d.before
	b.want(edited(b, "three", "3"), false, "New diagnostics since the edit:\n[error] f:3 — later")
	for range lateResults {
		b.call("read_file", m{"path": "f"})
	}
	asked := len(d.asked)
	b.call("read_file", m{"path": "f"})
	if len(d.asked) != asked {
		t.Error("the editor is asked about the file for ever")
	}
}

func TestManyNewDiagnosticsAreCut(t *testing.T) {
	b := newBench(t, map[string]string{"f": "one\ntwo\nthree\n"})
	d := withDesk(b)
	for range 25 {
		d.after.all = append(d.after.all, editor.Diagnostic{Path: "f", Line: 1, Severity: editor.SeverityError, Message: "x"})
	}
	b.want(b.call("edit_file", m{"path": "f", "old_string": "two", "new_string": "2"}), false, "5 more; get_diagnostics lists them.")
}

// TestEditorSavedItAlready: an editor that writes the text it accepted is no conflict, if
// it wrote the very bytes.
func TestEditorSavedItAlready(t *testing.T) {
	each(t, func(b *bench, tool string, args m, after string) {
		b.ask.during = func(confirm.Request) { b.write("f", after) }
		b.want(b.call(tool, args), false, "Wrote f: ")
		b.write("f", "one\ntwo\nthree\n")
		b.ask.during = func(confirm.Request) { b.write("f", after+"more\n") }
		conflict := tool == "append_file" // of two texts for the same place
		b.want(b.call(tool, args), conflict, "changed while the edit was being reviewed")
	})
}

// TestDiagnosticsThatAreNotKnown: unknown is not the same as clean.
func TestDiagnosticsThatAreNotKnown(t *testing.T) {
	b := newBench(t, map[string]string{"f": "one\n"})
	d := withDesk(b)
	for known, want := range map[bool]string{true: "No diagnostics.", false: "Not known: "} {
		d.after = report{known: known}
		b.want(b.call("get_diagnostics", m{"path": "f"}), false, want)
	}
}

// host has an editor host the session of b. It returns its unsaved texts by file name.
func (b *bench) host() map[string]string {
	b.Helper()
	typed := map[string]string{}
	host := workspace.Host{
		Buffer: func(path string) (string, bool, error) {
			if text, ok := typed[filepath.Base(path)]; ok {
				return text, true, nil
			}
			data, err := os.ReadFile(path)
			return string(data), err == nil, nil
		},
		Write: func(path, text string) error {
			delete(typed, filepath.Base(path))
			return os.WriteFile(path, []byte(text), 0o600)
		},
	}
	b.deps.Root = scratch.Workspace(b.T, b.dir, workspace.Options{Home: b.TempDir(), Host: host})
	b.set = NewSet(b.deps)
	return typed
}

// A text that is typed in the host during the question is merged with an edit of the file, alone
// or with others. The workspace itself writes the other changes: they are refused.
func TestTypedInTheHostMeanwhile(t *testing.T) {
	for _, tt := range []struct {
		name, tool string
		args       m
		merged     bool
	}{
		{"an edit", "edit_file", m{"path": "a", "old_string": "three", "new_string": "3"}, true},
		{"a patch of two files", "patch", m{"diff": "*** Update File: a\n@@\n-three\n+3\n*** Update File: b\n@@\n-b\n+B\n"}, true},
		{"a deletion", "delete_file", m{"path": "a"}, false},
		{"a move", "move_file", m{"path": "a", "to": "z"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const text = "one\ntwo\nthree\n"
			b := newBench(t, map[string]string{"a": text, "b": "b\n"})
			typed := b.host()
			b.ask.during = func(req confirm.Request) {
				if !req.Later && len(b.ask.asked) == 1 {
					typed["a"] = "ONE\ntwo\nthree\n"
				}
			}
			res := b.call(tt.tool, tt.args)
			if tt.merged {
				b.want(res, false, "merged with the new text")
				if got := b.read("a"); got != "ONE\ntwo\n3\n" {
					t.Errorf("the file holds %q", got)
				}
				return
			}
			b.want(res, true, "it has unsaved changes in the user's editor, which has to save or discard them first")
			if b.exists("z") || b.read("a") != text || b.read("b") != "b\n" || typed["a"] == "" {
				t.Errorf("a %q, b %q, typed %q", b.read("a"), b.read("b"), typed)
			}
		})
	}
}

// TestMuteEditor: an edit waits once for an editor that does not answer, and its result mentions that
// once, until it answers.
func TestMuteEditor(t *testing.T) {
	b := newBench(t, map[string]string{"f": "one two three four five\n"})
	d := withDesk(b)
	edited := func(b *bench, from, to string) Result {
		return b.call("edit_file", m{"path": "f", "old_string": from, "new_string": to})
	}
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, By: "test"}
	const says = "The editor did not answer"
	d.after = report{err: context.DeadlineExceeded}
	d.mute = true // from the first question after the edit on
	res := edited(b, "one", "1")
	b.want(res, false, says)
	d.late = nil
	if res = edited(b, "two", "2"); strings.Contains(res.ForModel, "editor") || len(d.late) == 0 || slices.Contains(d.late, false) {
		t.Errorf("the second edit: %q, waited %v", res.ForModel, d.late)
	}
	d.mute, d.after, d.late = false, report{known: true}, nil
	if res = edited(b, "three", "3"); !strings.Contains(res.ForModel, "No new errors") || slices.Contains(d.late, true) {
		t.Errorf("once it answers: %q, %v", res.ForModel, d.late)
	}
	d.mute, d.after = true, report{err: context.DeadlineExceeded}
	b.want(edited(b, "four", "4"), false, says)
}
