package notes

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

func change(name, before, after string, mode fs.FileMode) workspace.Change {
	c := workspace.Change{After: after}
	c.Name, c.Text, c.Exists, c.Mode = name, before, before != "", mode
	return c
}

// at is a change of the file at the absolute path in a workspace at dir.
func at(dir, name string) workspace.Change {
	c := change(name, "", "x\n", 0o600)
	c.Path = dir + "/" + name
	return c
}

func TestOn(t *testing.T) {
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
			notes, force := On(tt.c, tt.stage, "/h/state")
			text := fmt.Sprint(notes)
			if force != tt.force || !strings.Contains(text, tt.want) || (tt.want == "") != (len(notes) == 0) {
				t.Errorf("%q, force %v; want %q, %v", text, force, tt.want, tt.force)
			}
		})
	}
}

func TestOnRead(t *testing.T) {
	for path, want := range map[string]bool{
		"/u/.ssh/id_ed25519": true, "/u/.SSH": true, "/u/.aws/credentials": true, "/u/.netrc": true, "/p/.env.local": true,
		"/p/server.key": true, "/u/.agent/config.yaml": true, "/etc/shadow": true, "/etc/hosts": false, "/usr/include/x.h": false,
	} {
		notes, force := OnRead(path, false)
		if force != want || (len(notes) == 1) != want {
			t.Errorf("%s: %q, %v", path, notes, force)
		}
	}
	if notes, force := OnRead("/usr/include", true); force || len(notes) != 1 || !strings.Contains(notes[0].Text, "what is in it may be read") {
		t.Errorf("a folder: %q, %v", notes, force)
	}
}
