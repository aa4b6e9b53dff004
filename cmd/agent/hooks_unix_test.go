//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// hookConfig is a configuration with one hook.
func hookConfig(event, matcher, command string) string {
	return "hooks:\n  " + event + ":\n    - matcher: " + matcher + "\n      hooks:\n        - type: command\n          command: |\n            " + command + "\n"
}

// The person is shown the call as a hook changed it, with the model's, and a yes runs
// exactly that.
func TestAChangedInputIsShown(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, runTurn("touch asked"), llmtest.Turn{Text: "All done."}), nil)
	d.keep("config.yaml", hookConfig("PreToolUse", "Bash", `echo '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"touch changed"}}}'`))
	d.sit()
	d.say("touch it")
	d.asked(`(?s)changed\s+this\s+call\.\s+The\s+model\s+asked\s+for:\s+Run\s+touch\s+asked.*\$ touch changed`)
	if d.has("changed") || d.has("asked") {
		t.Error("it ran before the yes")
	}
	d.Press("y")
	d.WaitFor(`All done\.`)
	if d.has("asked") || !d.has("changed") {
		t.Error("something else was run than what was shown")
	}
	if told := d.told(1); !strings.Contains(told, "A hook of the user changed the call") {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.leave()
}

// A hook that wants a person to look is not answered by an "always" for the session.
func TestAHookAsks(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, runTurn("touch a"), runTurn("touch a"), llmtest.Turn{Text: "All done."}), nil)
	d.keep("config.yaml", hookConfig("PreToolUse", "Bash", `if [ -e a ]; then echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"It is there."}}'; fi`))
	d.sit()
	d.say("touch it twice")
	d.asked(`touch a`)
	d.Press("a")
	d.asked(`wants\s+you to look: It is there\.`)
	d.Press("y")
	d.WaitFor(`All done\.`)
	d.idle()
	d.leave()
}

// In bypass mode, too, a hook gets the person that it wants to look, and only for its calls.
func TestAHookAsksInBypassMode(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, runTurn("touch a"), runTurn("touch b"), callOf("edit_file", `{"path":"c.txt","old_string":"one","new_string":"two"}`), llmtest.Turn{Text: "All done."}),
		map[string]string{"c.txt": "one\n"})
	d.keep("config.yaml", hookConfig("PreToolUse", "Bash|Edit", `if grep -q -e 'touch b' -e 'c\.txt'; then echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"Careful."}}'; fi`))
	d.sit("--permission-mode", "bypass")
	d.say("touch them")
	d.asked(`(?s)wants\s+you to look: Careful\..*\$ touch b`)
	if !d.has("a") || d.has("b") {
		t.Error("the question is not about the second command alone")
	}
	d.Press("y")
	d.asked(`(?s)wants\s+you to look: Careful\..*two`)
	if c := d.read("c.txt"); c != "one\n" {
		t.Errorf("before the yes: %q", c)
	}
	d.Press("y")
	d.WaitFor(`All done\.`)
	if c := d.read("c.txt"); c != "two\n" || !d.has("b") {
		t.Errorf("after the yes: %q", c)
	}
	d.idle()
	d.leave()
}

// Esc ends a hook and the turn: the call is not made.
func TestEscEndsAHook(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, runTurn("touch ran"), llmtest.Turn{Text: "Again."}), nil)
	d.keep("config.yaml", hookConfig("PreToolUse", "Bash", `touch hooked; sleep 1000; touch late`))
	d.sit()
	d.say("touch it")
	d.WaitUntil("the hook to run", func(*vt.Terminal) bool { return d.has("hooked") })
	d.Press("esc")
	d.idle()
	d.say("again")
	d.WaitFor(`Again\.`)
	if d.has("ran") || d.has("late") {
		t.Error("the call was made, or the hook went on")
	}
	d.idle()
	d.leave()
}

// A formatter's change is shown with the edit, and one /undo takes back both.
func TestAFormattersChangeIsUndoneWithItsEdit(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, callOf("write_file", `{"path":"b.txt","content":"new\n"}`),
		callOf("edit_file", `{"path":"a.txt","old_string":"one","new_string":"two"}`), llmtest.Turn{Text: "All done."}, llmtest.Turn{Text: "I see."}), map[string]string{"a.txt": "one\n"})
	d.keep("config.yaml", hookConfig("PostToolUse", "Edit|Write", `f=$(grep -o '"file_path":"[^"]*"' | cut -d'"' -f4); tr a-z A-Z < "$f" > ../t && cat ../t > "$f"`))
	d.sit()
	d.say("change them")
	d.asked(`b\.txt`)
	d.Press("y")
	d.asked(`edit a\.txt`)
	d.Press("y")
	d.WaitFor(`changed by a hook: a\.txt`)
	d.WaitFor(`All done\.`)
	if a, b := d.read("a.txt"), d.read("b.txt"); a != "TWO\n" || b != "NEW\n" {
		t.Errorf("%q, %q", a, b)
	}
	if told := d.told(2); !strings.Contains(told, "+TWO") || !strings.Contains(told, "Read it again before you edit it.") {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.say("/undo")
	d.asked(`undo the last change: restores the file`)
	d.Press("y")
	d.WaitFor(`undone: `)
	d.WaitUntil("the file as before", func(*vt.Terminal) bool { return d.read("a.txt") == "one\n" })
	if b := d.read("b.txt"); b != "NEW\n" {
		t.Errorf("the change before it was undone: %q", b)
	}
	d.idle()
	d.leave()
}

// The hooks of a project run only after the person has seen each and said yes.
func TestHooksOfAProjectAreShown(t *testing.T) {
	t.Parallel()
	for answer, runs := range map[string]bool{"no": false, "yes": true} {
		t.Run(answer, func(t *testing.T) {
			d := newDesk(t, answers(t, "Hello."), nil)
			scratch.Mkdir(t, d.path(".agent"))
			d.write(".agent/hooks.json", `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch ran"}]}],"Stop":[{"hooks":[{"type":"command","command":"touch stopped"}]}]}}`)
			d.open()
			d.run("agent")
			d.WaitFor(`(?s)Trust the files of this project\?.*These hooks of \.agent/hooks\.json would run.*SessionStart: touch ran.*Stop: touch stopped.*› No`)
			if runs {
				d.choose("down")
				d.WaitFor(`› Yes`)
			}
			d.choose("enter")
			d.WaitFor(`(?m)^❯`)
			d.say("hello")
			d.WaitFor(`Hello\.`)
			d.idle()
			d.leave()
			if d.has("ran") != runs || d.has("stopped") != runs {
				t.Errorf("after %q, the hooks ran: %v, %v", answer, d.has("ran"), d.has("stopped"))
			}
		})
	}
}

// The calls of sub-agents have the same hooks.
func TestHooksOfASubAgent(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
		switch prompt, results := promptOf(body); {
		case strings.Contains(prompt, "look into it") && len(results) == 0:
			return callOf("read_file", `{"path":"a.txt"}`)
		case strings.Contains(prompt, "look into it"):
			return llmtest.Turn{Text: "It said: " + results[0]}
		case len(results) == 0:
			return callOf("task", `{"description":"look","prompt":"look into it"}`)
		default:
			return llmtest.Turn{Text: "All done: " + results[0]}
		}
	})
	d := newDesk(t, server, map[string]string{"a.txt": "secret words\n"})
	d.keep("config.yaml", hookConfig("PreToolUse", "Read", `echo "not that file" >&2; exit 2`))
	d.sit()
	d.say("delegate")
	d.WaitFor(`(?s)All done: .*not\s+that\s+file`)
	d.idle()
	for _, body := range server.Requests() {
		if strings.Contains(string(body), "secret words") {
			t.Error("the sub-agent read the file")
		}
	}
	d.leave()
}

// A hook that asks about a task does not ask about the calls of its sub-agent.
func TestAHookAsksAboutATaskAlone(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(scratch.Dir(t, map[string]string{"x.txt": "outside\n"}), "x.txt")
	server := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
		switch prompt, results := promptOf(body); {
		case strings.Contains(prompt, "look into it") && len(results) == 0:
			return callOf("read_file", `{"path":"`+outside+`"}`)
		case strings.Contains(prompt, "look into it"):
			return llmtest.Turn{Text: "It said: " + results[0]}
		case len(results) == 0:
			return callOf("task", `{"description":"look","prompt":"look into it"}`)
		default:
			return llmtest.Turn{Text: "All done."}
		}
	})
	d := newDesk(t, server, nil)
	d.keep("config.yaml", hookConfig("PreToolUse", "Task", `echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"Careful."}}'`))
	d.sit()
	d.say("delegate")
	d.WaitFor(`(?s)May the model make this call\?.*Careful\.`)
	d.awake("takes the answer")
	d.Press("1")
	d.asked(`a always \(this file\)`)
	if screen := d.Screen(); strings.Count(screen, "Careful.") > 1 {
		t.Errorf("the question of the sub-agent has the note about the task:\n%s", screen)
	}
	d.Press("y")
	d.WaitFor(`All done\.`)
	d.idle()
	d.leave()
}

// has reports whether a file exists in the folder.
func (d *desk) has(name string) bool {
	_, err := os.Stat(d.path(name))
	return err == nil
}

// The edits of a turn that are reviewed together are formatted when they are written, and
// one /undo takes back all of it.
func TestAFormatterAfterTheReviewOfATurn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, callOf("edit_file", `{"path":"a.txt","old_string":"one","new_string":"two"}`),
		callOf("edit_file", `{"path":"b.txt","old_string":"three","new_string":"four"}`), llmtest.Turn{Text: "All done."}), map[string]string{"a.txt": "one\n", "b.txt": "three\n"})
	d.env = append(d.env, "AGENT_REVIEW=turn")
	d.keep("config.yaml", hookConfig("PostToolUse", "Edit", `f=$(grep -o '"file_path":"[^"]*"' | cut -d'"' -f4); tr a-z A-Z < "$f" > ../t && cat ../t > "$f"`))
	d.sit()
	d.say("change them")
	d.asked(`b\.txt`)
	if a := d.read("a.txt"); a != "one\n" {
		t.Errorf("before the yes: %q", a)
	}
	d.Press("enter")
	d.WaitFor(`file 1 of 2`)
	d.Press("tab")
	d.WaitFor(`file 2 of 2`)
	d.Press("esc")
	d.asked(`all changes of this turn`)
	d.Press("y")
	d.WaitFor(`changed by a hook: `)
	if a, b := d.read("a.txt"), d.read("b.txt"); a != "TWO\n" || b != "FOUR\n" {
		t.Errorf("%q, %q", a, b)
	}
	d.idle()
	d.say("/undo")
	d.asked(`undo`)
	d.Press("y")
	d.WaitFor(`undone: `)
	if a, b := d.read("a.txt"), d.read("b.txt"); a != "one\n" || b != "three\n" {
		t.Errorf("after the undo: %q, %q", a, b)
	}
	d.idle()
	d.leave()
}

// A prompt that a hook blocks is not sent, whether it was typed before or during a turn.
func TestABlockedPromptIsNotSent(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, runTurn("while [ ! -e go ]; do :; done"), llmtest.Turn{Text: "First answer."}), nil)
	d.keep("config.yaml", hookConfig("UserPromptSubmit", "''", `if grep -q secret; then echo "keep it to yourself" >&2; exit 2; fi; echo The ticket is 7.`))
	d.sit()
	d.say("the secret")
	d.WaitFor(`(?i)the prompt was not sent`)
	d.idle()
	d.say("hello")
	d.asked(`while`)
	d.Press("y")
	d.say("another secret")
	d.WaitFor(`queued: another secret`)
	d.write("go", "")
	d.WaitFor(`A queued message is left out`)
	d.WaitFor(`First answer\.`)
	d.idle()
	if body := string(d.request(1)); strings.Contains(body, "secret") || !strings.Contains(body, "The ticket is 7.") {
		t.Errorf("the model was told %s", body)
	}
	d.leave()
}

// The edits that are reviewed before a command are formatted before it runs.
func TestAFormatterBeforeACommand(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, callOf("edit_file", `{"path":"a.txt","old_string":"one","new_string":"two"}`),
		runTurn("cp a.txt seen.txt"), llmtest.Turn{Text: "All done."}), map[string]string{"a.txt": "one\n"})
	d.env = append(d.env, "AGENT_REVIEW=turn")
	d.keep("config.yaml", hookConfig("PostToolUse", "Edit", `f=$(grep -o '"file_path":"[^"]*"' | cut -d'"' -f4); tr a-z A-Z < "$f" > ../t && cat ../t > "$f"`))
	d.sit()
	d.say("change it")
	d.asked(`The next step needs these changes saved first`)
	d.Press("enter")
	d.WaitFor(`file 1 of 1`)
	d.Press("esc")
	d.asked(`The next step needs these changes saved first`)
	d.Press("y")
	d.asked(`cp a\.txt seen\.txt`)
	if a := d.read("a.txt"); a != "TWO\n" {
		t.Errorf("before the command: %q", a)
	}
	d.Press("y")
	d.WaitFor(`All done\.`)
	d.idle()
	if seen := d.read("seen.txt"); seen != "TWO\n" {
		t.Errorf("the command saw %q", seen)
	}
	d.leave()
}

// A hook that wants a person to look at an edit is not answered by a rule when the edits of
// the turn are reviewed.
func TestAHookAsksInTheReviewOfATurn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, callOf("edit_file", `{"path":"a.txt","old_string":"one","new_string":"two"}`), llmtest.Turn{Text: "All done."}), map[string]string{"a.txt": "one\n"})
	d.env = append(d.env, "AGENT_REVIEW=turn")
	d.keep("config.yaml", "permissions:\n  allow:\n    - edit(**)\n"+hookConfig("PreToolUse", "Edit", `echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"It matters."}}'`))
	d.sit()
	d.say("change it")
	d.asked(`(?s)a\.txt: The hook.*wants\s+you to look: It matters\.`)
	if a := d.read("a.txt"); a != "one\n" {
		t.Errorf("before the yes: %q", a)
	}
	d.Press("n")
	d.idle()
	d.leave()
}
