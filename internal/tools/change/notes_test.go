package change

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/tools/access"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

func TestBounded(t *testing.T) {
	if got := clipPatch("-a\n+b\n"); got != "-a\n+b" {
		t.Errorf("%q", got)
	}
	long := strings.Repeat("+a line of the patch\n", 1000)
	got := clipPatch(long)
	if len(got) > maxPatch+60 || !strings.HasSuffix(got, "patch\n[the rest is left out: read the file]") {
		t.Errorf("%d bytes, %q", len(got), got[len(got)-80:])
	}
}

func changeOf(name, before, after string, mode fs.FileMode) workspace.Change {
	c := workspace.Change{After: after}
	c.Name, c.Text, c.Exists, c.Mode = name, before, before != "", mode
	return c
}

// at returns a change of the file name in a workspace at dir.
func at(dir, name string) workspace.Change {
	c := changeOf(name, "", "x\n", 0o600)
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
		{"nothing to say", changeOf("a.go", "a\n", "b\n", 0o600), edit.Exact, "", false},
		{"line endings", changeOf("a.go", "a\n", "b\n", 0o600), edit.LineEndings, "converting line endings", false},
		{"mixed line endings", changeOf("a.go", "a\n", "b\n", 0o600), edit.MixedEndings, "mixes line endings", true},
		{"loose match", changeOf("a.go", "a\n", "b\n", 0o600), edit.Indentation, "shifting the indentation", true},
		{"protected", changeOf(".git/hooks/pre-commit", "", "b\n", 0o600), edit.Exact, "is protected: git may run", true},
		{"executable", changeOf("run", "a\n", "b\n", 0o755), edit.Exact, "run is executable", false},
		{"bidi", changeOf("a.go", "a\nb\n", "a\nb\u202ec\n", 0o600), edit.Exact, "1 bidirectional control: line 2", true},
		{"hidden before, kept", changeOf("a.go", "x\u200b\nb\n", "x\u200b\nc\n", 0o600), edit.Exact, "", false},
		{"many lines", changeOf("a.go", "", strings.Repeat("\u200b\n", 9), 0o600), edit.Exact, "9 invisible characters: lines 1, 2, 3, 4, 5, 6, 7, 8 and 1 more", true},
		{"in .git itself", at("/p/.git", "hooks/pre-commit"), edit.Exact, "git may run", true},
		{"in our home", at("/h", "state/config.yaml"), edit.Exact, "belongs to this program", true},
		{"in an editor's folder itself", at("/p/.vscode", "tasks.json"), edit.Exact, "an editor may run", true},
		{"beside our home", at("/h", "stated/x"), edit.Exact, "", false},
		{"below settings", at("/u/.config/nvim", "init.lua"), edit.Exact, "", false},
		{"a letter that folds", changeOf(".v\u017fcode/tasks.json", "", "b\n", 0o600), edit.Exact, "an editor may run", true},
		{"escape", changeOf("a.go", "", "\x1b[31m\n", 0o600), edit.Exact, "1 control character: line 1", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			notes, force := (Writer{Deps: Deps{Files: access.Files{Home: "/h/state"}}}).changeNotes(tt.c, tt.stage)
			text := fmt.Sprint(notes)
			if force != tt.force || !strings.Contains(text, tt.want) || (tt.want == "") != (len(notes) == 0) {
				t.Errorf("%q, force %v; want %q, %v", text, force, tt.want, tt.force)
			}
		})
	}
}
