//go:build unix

package repl_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/repl"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// Texts that name a key name the user's own.
func TestTextsNameTheUsersKeys(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.yaml")
	text := "whole: f4\nprevious: f5\nsearch-scope: f6\nchoose: f7\npager-search: f8\nlist-up: f9\nreprint: f10\n"
	scratch.Write(t, path, text)
	own, err := keys.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	themed := command.Command{Name: "theme", Group: command.Program, Run: func(context.Context, string) (command.Reply, error) {
		return command.Reply{Theme: "dark", Text: "The theme is dark."}, nil
	}}
	s := newStage(t, 100, 44, func(o *repl.Options) { o.Terminal.Keys, o.Commands = own, append(o.Commands, themed) })
	s.say("test it")
	s.emit(call("Run go test ./...", strings.Repeat("ok\n", 12), func(r *tools.Result) { r.ForUser = "exit 0" })...)
	s.emit(call("Edit a.txt", "", func(r *tools.Result) {
		r.Changes = []tools.FileChange{{Path: "a.txt", Diff: "--- a/a.txt\n+++ b/a.txt\n@@ -0,0 +1,30 @@\n" + strings.Repeat("+line\n", 30)}}
	})...)
	s.WaitFor(`7 more lines, F4`)
	s.WaitFor(`18 more lines, F4`)
	s.emit(session.TurnEnded{Stop: session.StopFailed, Err: errors.New("the provider is gone")})
	close(s.end)
	s.WaitFor(`Press F5 then Enter to retry`)
	s.Press("ctrl+r")
	s.WaitFor(`F6 all`)
	s.Press("esc")
	s.Type("/resume\r")
	s.WaitFor(`F9 ↓ F7 · Esc`)
	s.Press("esc")
	s.Type("/theme\r")
	s.WaitFor(`The theme is dark\. F10 reprints the conversation in it`)
	s.Type("text")
	s.Press("esc")
	s.WaitFor(`clears the prompt; F5 brings it back`)
	s.Press("ctrl+c")
	s.Type("\x1bOS") // F4
	s.WaitFor(`F8 search`)
	if text := look(s); strings.Contains(text, "Ctrl+O") {
		t.Error("a text names a key that does nothing:\n", text)
	}
}
