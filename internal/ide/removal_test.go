package ide_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/ide"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// removals are questions about files that go away, each with the arguments that the editor gets.
func (r *rig) removals() map[string]struct {
	req  confirm.Request
	want map[string]string
} {
	text := func() *workspace.Change { c := *r.proposal("old\n", "").File(); return &c }
	deleted, moved, binary := text(), text(), text()
	deleted.Delete = true
	moved.To, moved.ToName, moved.After = filepath.Join(r.dir, "b.txt"), "b.txt", "old\n"
	raw := []byte{0, 1, 2}
	binary.Delete, binary.Raw, binary.Text = true, raw, workspace.Describe(raw)
	sum := func(b []byte) string { s := sha256.Sum256(b); return hex.EncodeToString(s[:]) }
	all := map[string]struct {
		req  confirm.Request
		want map[string]string
	}{}
	for name, tt := range map[string]struct {
		c    *workspace.Change
		want map[string]string
	}{
		"deleted": {deleted, map[string]string{"removal": "delete", "new_file_path": deleted.Path, "new_file_contents": "", "base_sha256": sum([]byte("old\n"))}},
		"moved":   {moved, map[string]string{"removal": "move", "new_file_path": moved.To, "new_file_contents": "old\n", "base_sha256": sum([]byte("old\n"))}},
		"binary":  {binary, map[string]string{"removal": "delete", "new_file_path": deleted.Path, "new_file_contents": "", "base_sha256": sum(raw)}},
	} {
		tt.want["old_file_path"] = tt.c.Path
		all[name] = struct {
			req  confirm.Request
			want map[string]string
		}{confirm.Request{Tool: "delete_file", Subject: confirm.Edit(*tt.c)}, tt.want}
	}
	return all
}

// TestRemovalsInTheEditor: a deletion or a move is reviewed in the editor like an edit, with
// its base, and the first answer wins.
func TestRemovalsInTheEditor(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	for name, tt := range r.removals() {
		for answer, give := range map[string]func(*idetest.Diff){
			"editor": (*idetest.Diff).Accept, "no": (*idetest.Diff).Reject, "terminal": func(*idetest.Diff) { r.terminal.answers <- yes },
		} {
			got := r.ask(t.Context(), tt.req)
			<-r.terminal.shown
			d := e.NextDiff()
			var args map[string]any
			if err := json.Unmarshal(d.Args, &args); err != nil {
				t.Fatal(err)
			}
			sent := map[string]string{}
			for key := range tt.want {
				sent[key], _ = args[key].(string)
			}
			if diff := cmp.Diff(tt.want, sent); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			give(d)
			o, text := r.answered(got, tt.req)
			want := confirm.Approve
			if answer == "no" {
				want = confirm.Reject
			}
			if o.err != nil || o.Decision != want || o.Edited() != nil || want == confirm.Approve && text != tt.req.File().After {
				t.Errorf("%s, %s: %+v with %q", name, answer, o, text)
			}
			<-d.Closed
		}
	}
}

// TestADeletionHasNoText: a text that an editor returns for a deletion approves nothing.
func TestADeletionHasNoText(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *ide.Options) { o.Unattended = true })
	e := r.editor(idetest.Ours())
	req := r.removals()["deleted"].req
	got := r.ask(t.Context(), req)
	d := e.NextDiff()
	d.Edit("kept\n")
	d.Accept()
	if o, _ := r.answered(got, req); o.Decision == confirm.Approve || !o.Unasked {
		t.Errorf("%+v", o)
	}
}

// TestRemovalsInAnotherEditor: the terminal asks.
func TestRemovalsInAnotherEditor(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Neovim())
	req := r.removals()["deleted"].req
	got := r.ask(t.Context(), req)
	<-r.terminal.shown
	r.terminal.answers <- yes
	if o, _ := r.answered(got, req); o.Decision != confirm.Approve {
		t.Errorf("%+v", o)
	}
	if n := len(e.Requests("openDiff")); n > 0 {
		t.Errorf("%d diffs", n)
	}
}

// TestTheEditorLearnsOfRemovals: after the write, an editor that closes tabs is told, and no
// other.
func TestTheEditorLearnsOfRemovals(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		dialect idetest.Dialect
		done    editor.Write
		want    string
	}{
		"deleted": {idetest.Ours(), editor.Write{Path: "/p/a", Removed: true}, `{"filePath":"/p/a"}`},
		"moved":   {idetest.Ours(), editor.Write{Path: "/p/a", Removed: true, To: "/p/b"}, `{"filePath":"/p/a","movedTo":"/p/b"}`},
		"written": {idetest.Ours(), editor.Write{Path: "/p/a", After: "x"}, ""},
		"another": {idetest.Neovim(), editor.Write{Path: "/p/a", Removed: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			e := r.editor(tt.dialect)
			r.Wrote(t.Context(), tt.done)
			var told []string
			for _, req := range e.Requests("fileRemoved") {
				told = append(told, string(req.Params))
			}
			if got := strings.Join(told, "\n"); got != tt.want {
				t.Errorf("told %s, want %s", got, tt.want)
			}
		})
	}
}

// TestAStuckEditorHoldsATurnOnce: an editor that does not answer is waited for at the first
// of many removed files, and still told of the others.
func TestAStuckEditorHoldsATurnOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	e.Handle("fileRemoved", func(*idetest.Conn, rawJSON) idetest.Reply { return idetest.Reply{Silent: true} })
	const files = 30
	began := time.Now()
	for range files {
		r.Wrote(t.Context(), editor.Write{Path: "/p/a", Removed: true})
	}
	if took := time.Since(began); took > files*time.Second/2 {
		t.Errorf("%d files took %s", files, took)
	}
	e.WaitRequests("fileRemoved", files)
}

// TestRemovalsAreToldInOrder: an editor that answers late learns of each removed file only
// after it has answered for the one before.
func TestRemovalsAreToldInOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	pending := make(chan func(), 100)
	e.Handle("fileRemoved", func(c *idetest.Conn, _ rawJSON) idetest.Reply {
		all := e.Requests("fileRemoved")
		pending <- func() { c.Reply(all[len(all)-1].ID, idetest.Text(`{"success":true}`)) }
		return idetest.Reply{Silent: true}
	})
	const files = 20
	for i := range files { // the first waits for a second, and no other does
		r.Wrote(t.Context(), editor.Write{Path: fmt.Sprintf("/p/%02d", i), Removed: true, To: fmt.Sprintf("/p/%02d", i+1)})
	}
	for i := range files {
		answer := <-pending
		if told := e.Requests("fileRemoved"); len(told) != i+1 || !strings.Contains(string(told[i].Params), fmt.Sprintf(`"/p/%02d","movedTo"`, i)) {
			t.Fatalf("with %d answers, told of %d: %s", i, len(told), told[len(told)-1].Params)
		}
		answer()
	}
}
