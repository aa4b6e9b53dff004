//go:build unix

package check

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/langserver"
)

// servers is a server for .x files: each word "bad" is an error, and "odd" a hint.
type servers struct{ fails error }

func (servers) Tries(path string) string {
	if filepath.Ext(path) == ".x" {
		return "xls"
	}
	return ""
}

func (s servers) Try(_ context.Context, _ string, all []langserver.Proposal) (before, after []editor.Diagnostic, err error) {
	judge := func(path, text string) (found []editor.Diagnostic) {
		for n, l := range strings.Split(text, "\n") {
			for word, severity := range map[string]editor.Severity{"bad": editor.SeverityError, "odd": editor.SeverityHint, "iffy": editor.SeverityWarning} {
				if strings.Contains(l, word) {
					found = append(found, editor.Diagnostic{Path: path, Line: n + 1, Column: 1, Severity: severity, Message: word + "\nsee line 3"})
				}
			}
		}
		return found
	}
	for _, p := range all {
		before, after = append(before, judge(p.Path, p.Before)...), append(after, judge(p.Path, p.After)...)
	}
	return before, after, s.fails
}

// TestServersTry: a file that no command tries is tried by a language server that runs, and only new problems count.
func TestServersTry(t *testing.T) {
	r, dir := open(t, Off, map[string]string{"a.x": "bad\nfine\n", "b.txt": "bad\n"})
	if plans := r.plans(parts(nil)); len(plans) > 0 || r.For(change(t, dir, "a.x", "bad bad")) != nil {
		t.Errorf("without a server: %+v", plans)
	}
	r.opt.Servers = servers{}
	if r.For(change(t, dir, "b.txt", "bad")) != nil {
		t.Error("a file of no server is tried")
	}
	gone := change(t, dir, "a.x", "")
	gone.Delete = true
	if r.For(gone, change(t, dir, "new.x", "bad")) != nil {
		t.Error("a removal is tried")
	}
	for after, want := range map[string]string{
		"new\nbad\nodd\n":   "xls ✔ nothing new (+0 −0, 1 as before)",
		"bad\nbad\niffy\n":  "xls ✗ 1 new error, 1 new warning (+2 −0, 1 as before)",
		"fine\n":            "xls ✔ nothing new (+0 −1)",
		"iffy\nand iffy \n": "xls ✗ 2 new warnings (+2 −1)",
	} {
		if got := result(t, r, change(t, dir, "a.x", after)); !strings.HasPrefix(got.Line(), want+" · ") && !strings.HasPrefix(got.Line(), want) {
			t.Errorf("%q: %s", after, got.Line())
		}
	}
	res := result(t, r, change(t, dir, "new.x", "x\nbad\n"), change(t, dir, "b.txt", "bad\n"))
	if len(res.Problems) != 1 || res.Problems[0].Line != 2 || res.Problems[0].Text != "bad" {
		t.Errorf("a new file: %+v", res)
	}
	r.opt.Servers = servers{errors.New("no answer within 30s")}
	if res := result(t, r, change(t, dir, "a.x", "bad bad")); res.Line() != "xls: no answer within 30s" {
		t.Error(res.Line())
	}
	r.opt.Command = "true"
	if plans := r.plans(parts(nil)); len(plans) > 0 {
		t.Error(plans)
	}
	if res := result(t, r, change(t, dir, "a.x", "bad bad")); !strings.HasPrefix(res.Line(), "true ✔") {
		t.Errorf("beside a command: %s", res.Line())
	}
}
