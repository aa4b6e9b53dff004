package tools

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/sandbox"
)

// inSandbox returns a bench whose commands run in a sandbox, changed by with, and a file
// that they may not write.
func inSandbox(t *testing.T, with func(*Sandbox)) (b *bench, outside string) {
	t.Helper()
	if o := sandbox.Probe(t.Context()); o.Missing != "" {
		t.Skip(o.Missing)
	}
	b = newBench(t, nil)
	box := Sandbox{Policy: &sandbox.Policy{Write: []string{b.dir}}}
	if with != nil {
		with(&box)
	}
	b.deps.Sandbox = func(context.Context) Sandbox { return box }
	b.set = NewSet(b.deps)
	return b, filepath.Join(t.TempDir(), "f")
}

// noted reports whether a question has a note with the text.
func noted(req confirm.Request, text string) bool {
	var all strings.Builder
	for _, n := range req.Notes {
		all.WriteString(n.Text + "\n")
	}
	return strings.Contains(all.String(), text)
}

// A command that fails in the sandbox runs again without it only after a question of its
// own, which cannot be answered for good.
func TestRunAgainWithoutTheSandbox(t *testing.T) {
	b, outside := inSandbox(t, nil)
	b.ask.during = func(req confirm.Request) {
		if _, err := os.Stat(outside); err == nil {
			t.Error("written before the answer")
		}
		b.ask.verdict.Feedback = "be quick"
		if confirm.As[*confirm.Command](req).Unconfined {
			b.ask.verdict.Feedback = "go on"
		}
	}
	res := b.call("execute_command", m{"command": "echo x >" + outside + " && echo written"})
	b.want(res, false, "The command failed in the sandbox; the user let it run again without.", "exit code: 0\nwritten", "go on", "be quick")
	if len(b.ask.asked) != 2 {
		t.Fatalf("%d questions", len(b.ask.asked))
	}
	first, second := b.ask.asked[0], b.ask.asked[1]
	if confirm.As[*confirm.Command](first).Unconfined || first.Force || len(first.Notes) != 1 || !noted(first, "outside of the folder") {
		t.Errorf("the first question: %+v", first)
	}
	if !confirm.As[*confirm.Command](second).Unconfined || !second.Force || confirm.As[*confirm.Command](second).Line != confirm.As[*confirm.Command](first).Line || !noted(second, outside+": Permission denied") {
		t.Errorf("the second question: %+v", second)
	}
	if !strings.Contains(res.ForUser, "without the sandbox") {
		t.Errorf("the user is told %q", res.ForUser)
	}
}

// A no keeps the result of the first time, and the turn goes on.
func TestNotRunAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		verdict confirm.Verdict
		told    string
	}{
		"no":          {confirm.Verdict{}, "did not let it run again"},
		"no, because": {confirm.Verdict{Feedback: "use the workspace"}, "use the workspace"},
		"nobody":      {confirm.Verdict{Unasked: true}, "Nobody could be asked"},
	} {
		t.Run(name, func(t *testing.T) {
			b, outside := inSandbox(t, nil)
			b.ask.during = func(req confirm.Request) {
				if confirm.As[*confirm.Command](req).Unconfined {
					b.ask.verdict = tt.verdict
				}
			}
			res := b.call("execute_command", m{"command": "echo x >" + outside})
			b.want(res, true, "in a sandbox, which may be why", tt.told, "exit code: 1")
			if _, err := os.Stat(outside); err == nil || len(b.ask.asked) != 2 || res.Stop || !res.Ran {
				t.Errorf("%d questions, stat %v, %+v", len(b.ask.asked), err, res)
			}
		})
	}
}

// A question about a second run that nobody answers ends the turn, with the first result.
func TestSecondRunUnanswered(t *testing.T) {
	b, outside := inSandbox(t, nil)
	b.ask.during = func(req confirm.Request) {
		if confirm.As[*confirm.Command](req).Unconfined {
			b.ask.err = context.Canceled
		}
	}
	args := json.RawMessage(`{"command":"echo x >` + outside + `"}`)
	res, err := b.set.Call(t.Context(), "execute_command", Call{Args: args})
	var asked UnansweredError
	if !errors.As(err, &asked) || !res.Ran || !strings.Contains(res.ForModel, "exit code: 1") {
		t.Errorf("%+v, %v", res, err)
	}
}

// A command that ran, failed for another reason or timed out is not offered again, and
// none is where a sandbox is required.
func TestNoSecondQuestion(t *testing.T) {
	for name, args := range map[string]m{
		"done":       {"command": "cat /nowhere; echo Permission denied; true"},
		"failed":     {"command": "cat /nowhere"},
		"timed out":  {"command": "echo Permission denied; sleep 60", "timeout": 1},
		"background": {"command": "echo x >/sandbox-test", "background": true},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := inSandbox(t, nil)
			res := b.call("execute_command", args)
			if len(b.ask.asked) != 1 {
				t.Errorf("%d questions", len(b.ask.asked))
			}
			if name == "background" && !strings.Contains(res.ForModel, "It runs in a sandbox: it can write only") {
				t.Errorf("the model is told %q", res.ForModel)
			}
		})
	}
	b, outside := inSandbox(t, func(s *Sandbox) { s.Required = true })
	b.want(b.call("execute_command", m{"command": "echo x >" + outside}), true, "in a sandbox, which may be why", "exit code: 1")
	if len(b.ask.asked) != 1 {
		t.Errorf("%d questions where a sandbox is required", len(b.ask.asked))
	}
}

// A missing sandbox is noted in the question; if one is required, nobody is asked.
func TestMissingSandbox(t *testing.T) {
	b, outside := inSandbox(t, func(s *Sandbox) { *s = Sandbox{Missing: "no Landlock"} })
	b.want(b.call("execute_command", m{"command": "echo x >" + outside}), false, "exit code: 0")
	if !noted(b.ask.asked[0], "No sandbox: the command may write wherever you may (no Landlock).") {
		t.Errorf("the question: %+v", b.ask.asked[0].Notes)
	}
	b, outside = inSandbox(t, func(s *Sandbox) { *s = Sandbox{Missing: "no Landlock", Required: true} })
	b.want(b.call("execute_command", m{"command": "echo x >" + outside}), true, "was not run: the user requires a sandbox", "no Landlock")
	if len(b.ask.asked) > 0 {
		t.Error("somebody was asked")
	}
	b, _ = inSandbox(t, func(s *Sandbox) { s.Gap = "mind the gap" })
	b.call("execute_command", m{"command": "true"})
	if got := b.ask.asked[0].Notes; len(got) != 1 || got[0] != (caution.Note{Kind: caution.Other, Text: "mind the gap"}) {
		t.Errorf("notes %+v", got)
	}
}
