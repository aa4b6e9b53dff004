//go:build unix

package hooks

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/config"
)

// TestEachEvent has each kind of answer to each event: only a call, a prompt and an end can be
// blocked, and only a call can be changed.
func TestEachEvent(t *testing.T) {
	events := map[string]Event{
		SessionStart:     {Name: SessionStart, Source: "startup"},
		UserPromptSubmit: {Name: UserPromptSubmit, Prompt: "hello"},
		PreToolUse:       bash(t, `{"command":"ls"}`),
		PostToolUse:      OfTool(PostToolUse, "execute_command", "c1"),
		Stop:             {Name: Stop},
		SessionEnd:       {Name: SessionEnd, Reason: "other"},
	}
	for name, e := range events {
		ends, text := name == SessionStart || name == SessionEnd, name == SessionStart || name == UserPromptSubmit
		why := func(o Outcome, reason string) Outcome { // the reason blocks, or is told
			if o.Blocked = "the hook HOOK: " + reason; ends {
				o = Outcome{Notices: []string{"Hook " + name + " `HOOK`: " + reason}}
			}
			return o
		}
		failed := func(code int, said string) Outcome {
			return Outcome{Notices: []string{fmt.Sprintf("Hook %s `HOOK` failed (exit %d): %s", name, code, said)}}
		}
		notice := func(text string) Outcome { return Outcome{Notices: []string{"Hook " + name + " `HOOK`: " + text}} }
		plain, changed := Outcome{}, Outcome{}
		if text {
			plain.Context = []string{"plain"}
		}
		if name == PreToolUse {
			changed = Outcome{Input: []byte(`{"command":"pwd"}`), Changed: []string{"HOOK"}}
		}
		for command, want := range map[string]Outcome{
			"true":                 {},
			"echo plain":           plain,
			"echo hm >&2; exit 1":  failed(1, "hm"),
			"echo why >&2; exit 2": why(Outcome{}, "why"),
			"exit 3":               failed(3, "no output"),
			"sleep 1000":           notice("it was ended after 50ms"),
			`echo '{"decision":"block","reason":"so"}'`:                               why(Outcome{}, "so"),
			`echo '{"continue":false,"stopReason":"enough"}'`:                         {Stop: "The hook HOOK ended the turn: enough"},
			`echo '{"systemMessage":"hi"}'`:                                           {Notices: []string{"hi"}},
			`echo '{"hookSpecificOutput":{"additionalContext":"more"}}'`:              {Context: []string{"more"}},
			`echo '{"hookSpecificOutput":{"updatedInput":{"command":"pwd"}}}'`:        changed,
			`echo '{"decision":"approve"}'`:                                           {},
			`echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`:            {},
			`echo '{"hookSpecificOutput":{"permissionDecision":"ask"},"reason":"r"}'`: {Ask: "The hook HOOK wants you to look: r"},
		} {
			h := config.Hook{Event: name, Command: command, Timeout: time.Minute}
			if strings.HasPrefix(command, "sleep") {
				h.Timeout = 50 * time.Millisecond
			}
			got, err := runner(t, Project{}, h).Run(t.Context(), e)
			if err != nil {
				t.Fatal(name, command, err)
			}
			for _, text := range []*string{&want.Blocked, &want.Ask, &want.Stop} {
				*text = strings.ReplaceAll(*text, "HOOK", command)
			}
			for _, list := range [][]string{want.Notices, want.Changed} {
				for i := range list {
					list[i] = strings.ReplaceAll(list[i], "HOOK", command)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s, %s: %s", name, command, d)
			}
		}
	}
}
