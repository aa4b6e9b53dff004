package tools

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

func TestWords(t *testing.T) {
	for name, tt := range map[string]struct {
		v                    confirm.Verdict
		patch, words, record string
	}{
		"a bare yes": {v: confirm.Verdict{Decision: confirm.Approve}},
		"a reason":   {v: confirm.Verdict{Feedback: "too\nrisky"}, words: "\nThe user says: too\nrisky", record: "The user says: too\nrisky"},
		"a rule":     {v: confirm.Verdict{Rule: true, Feedback: "plan mode"}, words: "\nplan mode", record: "plan mode"},
		"comments": {
			v: confirm.Verdict{Comments: []confirm.Comment{{Line: 2, Text: "why"}, {Line: 3, Text: "no"}}}, patch: "-a\n+b\n",
			words: "\nThe user's comment on line 2 of the proposal: why\nThe user's comment on line 3 of the proposal: no",
			record: "From the proposal to what was written:\n-a\n+b\nThe user's comment on line 2 of the proposal: why\n" +
				"The user's comment on line 3 of the proposal: no",
		},
	} {
		if got := feedbackForModel(tt.v); got != tt.words {
			t.Errorf("%s: %q", name, got)
		}
		if got := feedbackForRecord(tt.v, tt.patch); got != tt.record {
			t.Errorf("%s: said %q", name, got)
		}
	}
}

func TestBounded(t *testing.T) {
	if got := clipPatch("-a\n+b\n"); got != "-a\n+b\n" {
		t.Errorf("%q", got)
	}
	long := strings.Repeat("+a line of the patch\n", 1000)
	got := clipPatch(long)
	if len(got) > maxPatch+60 || !strings.HasSuffix(got, "patch\n[the rest is left out: read the file]\n") {
		t.Errorf("%d bytes, %q", len(got), got[len(got)-80:])
	}
}

func change(name, before, after string, mode fs.FileMode) workspace.Change {
	c := workspace.Change{After: after}
	c.Name, c.Text, c.Exists, c.Mode = name, before, before != "", mode
	return c
}

// at returns a change of the file name in a workspace at dir.
func at(dir, name string) workspace.Change {
	c := change(name, "", "x\n", 0o600)
	c.Path = dir + "/" + name
	return c
}

func TestChangeNotes(t *testing.T) {
	tests := []struct {
		name  string
		c     workspace.Change
		stage edit.Stage
		want  string
		force bool
	}{
		{"nothing to say", change("a.go", "a\n", "b\n", 0o600), edit.Exact, "", false},
		{"line endings", change("a.go", "a\n", "b\n", 0o600), edit.LineEndings, "converting line endings", false},
		{"mixed line endings", change("a.go", "a\n", "b\n", 0o600), edit.MixedEndings, "mixes line endings", true},
		{"loose match", change("a.go", "a\n", "b\n", 0o600), edit.Indentation, "shifting the indentation", true},
		{"protected", change(".git/hooks/pre-commit", "", "b\n", 0o600), edit.Exact, "is protected: git may run", true},
		{"executable", change("run", "a\n", "b\n", 0o755), edit.Exact, "run is executable", false},
		{"bidi", change("a.go", "a\nb\n", "a\nb\u202ec\n", 0o600), edit.Exact, "1 bidirectional control: line 2", true},
		{"hidden before, kept", change("a.go", "x\u200b\nb\n", "x\u200b\nc\n", 0o600), edit.Exact, "", false},
		{"many lines", change("a.go", "", strings.Repeat("\u200b\n", 9), 0o600), edit.Exact, "9 invisible characters: lines 1, 2, 3, 4, 5, 6, 7, 8 and 1 more", true},
		{"in .git itself", at("/p/.git", "hooks/pre-commit"), edit.Exact, "git may run", true},
		{"in our home", at("/h", "state/config.yaml"), edit.Exact, "belongs to this program", true},
		{"in an editor's folder itself", at("/p/.vscode", "tasks.json"), edit.Exact, "an editor may run", true},
		{"beside our home", at("/h", "stated/x"), edit.Exact, "", false},
		{"below settings", at("/u/.config/nvim", "init.lua"), edit.Exact, "", false},
		{"a letter that folds", change(".v\u017fcode/tasks.json", "", "b\n", 0o600), edit.Exact, "an editor may run", true},
		{"escape", change("a.go", "", "\x1b[31m\n", 0o600), edit.Exact, "1 control character: line 1", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			notes, force := Deps{Home: "/h/state"}.changeNotes(tt.c, tt.stage)
			text := fmt.Sprint(notes)
			if force != tt.force || !strings.Contains(text, tt.want) || (tt.want == "") != (len(notes) == 0) {
				t.Errorf("%q, force %v; want %q, %v", text, force, tt.want, tt.force)
			}
		})
	}
}

func TestReadNotes(t *testing.T) {
	for path, want := range map[string]bool{
		"/u/.ssh/id_ed25519": true, "/u/.SSH": true, "/u/.aws/credentials": true, "/u/.netrc": true, "/p/.env.local": true,
		"/p/server.key": true, "/u/.agent/config.yaml": true, "/etc/shadow": true, "/etc/hosts": false, "/usr/include/x.h": false,
	} {
		notes, force := (Deps{}).readNotes(path, false)
		if force != want || (len(notes) == 1) != want {
			t.Errorf("%s: %q, %v", path, notes, force)
		}
	}
	if notes, force := (Deps{}).readNotes("/usr/include", true); force || len(notes) != 1 || !strings.Contains(notes[0].Text, "everything in it may be read") {
		t.Errorf("a folder: %q, %v", notes, force)
	}
}
