package tools

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/trial"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// indexes are copies in which each git add and git rm adds a word to the index.
type indexes struct{}

func (indexes) Missing(context.Context) string { return "" }

func (indexes) Run(_ context.Context, opts shell.Options, _ []workspace.Change) (*trial.Outcome, error) {
	return &trial.Outcome{Staged: strings.Repeat("x", strings.Count(opts.Line, "git add")+strings.Count(opts.Line, "sh add"))}, nil
}

// TestHeldCommands: a command that adds to the index waits only as long as nothing could notice, and
// never longer than an answer.
func TestHeldCommands(t *testing.T) {
	scratch.Need(t, "git")
	type call = m
	run := func(line string) call { return m{"command": line} }
	for _, c := range []struct {
		name  string
		calls []call
		asked string // the lines, in order
		held  string // at the end
	}{
		{"a commit", []call{run("git add a"), run("git commit -m x")}, "git add a && git commit -m x", ""},
		{"two", []call{run("git add a"), run("git add b"), run("git commit -m x")}, "git add a && git add b && git commit -m x", ""},
		{"what does not look", []call{run("git add a"), run("ls"), run("make test")}, "ls", "`git add a`"},
		{"what looks", []call{run("git add a"), run("git status")}, "", "`git add a`"},
		{"what changes the index by itself", []call{run("git add a"), run("sh add")}, "git add a && sh add", ""},
		{"more than adding", []call{run("make test && git add a")}, "make test && git add a", ""},
		{"a line that nothing can follow", []call{run("git add a # and"), run("git add a;")}, "git add a # and\ngit add a;", ""},
		{"another folder", []call{run("git add a"), {"command": "git commit -m x", "cwd": "sub"}}, "git add a\ngit commit -m x", ""},
		{"the background", []call{run("git add a"), {"command": "make x", "background": true}}, "git add a\nmake x", ""},
		{"an edit", []call{run("git add a"), {"path": "a", "content": "b\n"}}, "git add a\na", ""},
		{"a read", []call{run("git add a"), {"path": "a"}}, "", "`git add a`"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"a": "a\n", "b": "b\n", "sub/c": "c\n"})
			if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", b.dir).CombinedOutput(); err != nil {
				t.Fatal(string(out), err)
			}
			b.deps.Trials, b.deps.Holds = indexes{}, true
			b.set = NewSet(b.deps)
			b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, Rule: true, By: permission.InCopy}
			for _, args := range c.calls {
				tool := "execute_command"
				if args["content"] != nil {
					tool = "write_file"
				} else if args["path"] != nil {
					tool = "read_file"
				}
				b.call(tool, args)
			}
			var asked []string
			for _, req := range b.ask.asked {
				if command, ok := req.Subject.(*confirm.Command); !ok {
					asked = append(asked, req.File().Name)
				} else if !command.Trial {
					asked = append(asked, command.Line)
				}
			}
			if got := strings.Join(asked, "\n"); got != c.asked || b.set.Held() != c.held {
				t.Errorf("asked %q, %s waits; want %q, %s", got, b.set.Held(), c.asked, c.held)
			}
		})
	}
}

// TestHeldIsDropped: after a "no" nothing waits any more, and the model is told.
func TestHeldIsDropped(t *testing.T) {
	b := newBench(t, map[string]string{"a": "a\n"})
	b.deps.Trials, b.deps.Holds = indexes{}, true
	b.set = NewSet(b.deps)
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, Rule: true, By: permission.InCopy}
	b.call("execute_command", m{"command": "git add a"})
	b.ask.during = func(req confirm.Request) { b.ask.verdict = confirm.Verdict{} }
	b.want(b.call("execute_command", m{"command": "git commit -m x"}), true, "declined", "`git add a`, which waited to run before it, did not run either")
	if held := b.set.Held(); held != "" || len(b.set.DropPending()) > 0 {
		t.Errorf("%s waits", held)
	}
}
