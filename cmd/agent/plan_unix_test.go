//go:build unix

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

func planCall(plan string) llmtest.Turn {
	args, _ := json.Marshal(map[string]string{"plan": plan})
	return llmtest.Turn{Text: "I have read enough.", Calls: []llmtest.Call{{Name: "present_plan", Args: string(args)}}}
}

// The plan mode ends in a plan: the person comments on it, edits it, and chooses with the
// acceptance the mode to go on in. The model is told to carry out the text that they left.
func TestPlanModeEndsInAPlan(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t,
		planCall("# Be polite\n\n1. Say **good day**.\n"), planCall("# Be polite\n\n1. Say good day.\n2. Test it.\n"),
		editCall("hello", "good day"), llmtest.Turn{Text: "All done."}), map[string]string{"main.go": program})
	editor := filepath.Join(filepath.Dir(d.home), "editor")
	scratch.Program(t, editor, "#!/bin/sh\necho '3. Say goodbye.' >>\"$1\"\n")
	d.env = append(d.env, "VISUAL="+editor)
	d.sit("--permission-mode", "plan")
	d.say("be polite")
	d.WaitFor(`(?s)the plan.*# Be polite.*1\. Say good day\.`)
	d.awake("y carry it out")
	d.Press("c")
	d.WaitFor(`no, because:`)
	d.Type("and the tests?")
	d.Press("enter")
	d.WaitFor(`2\. Test it\.`)
	d.awake("y carry it out")
	if told := d.told(1); !strings.Contains(told, "The user says: and the tests?") || !strings.Contains(told, "present it again") {
		t.Errorf("the comment: %q", told)
	}
	d.Press("e")
	d.WaitFor(`(?s)as you edited it.*3\. Say goodbye\.`)
	d.awake("y carry it out")
	d.Press("2")
	d.WaitFor(`All done`)
	d.WaitFor(`accept-edits mode`)
	d.idle()
	told := d.told(2)
	if !strings.Contains(told, "\n\n# Be polite\n\n1. Say good day.\n2. Test it.\n3. Say goodbye.\n") || !strings.Contains(told, "[Permission mode: accept-edits. ") {
		t.Errorf("the accepted plan: %q", told)
	}
	if !strings.Contains(d.read("main.go"), "good day") {
		t.Error("the accepted mode did not write the edit")
	}
	if history := strings.Join(d.History(), "\n"); !strings.Contains(history, "3. Say goodbye.") {
		t.Errorf("the accepted plan is not in the scrollback:\n%s", history)
	}
	d.leave()
}

// Comments on lines of the plan reach the model with those lines, from the panel and from
// plain lines.
func TestPlanIsCommentedOn(t *testing.T) {
	t.Parallel()
	const plan = "# Be polite\n\n1. Say **good day**.\n2. Test it.\n"
	const comment = `The user's comment on line 3 of the proposal, "1. Say **good day**.": to whom?`
	t.Run("panel", func(t *testing.T) {
		d := newDesk(t, llmtest.NewServer(t, planCall(plan), planCall("# Ask whom\n"), llmtest.Turn{Text: "All done."}), nil)
		d.sit("--permission-mode", "plan")
		d.say("be polite")
		d.WaitFor(`(?s)the plan.*# Be polite`)
		d.awake("y carry it out")
		d.Press("m")
		d.WaitFor(`(?m)^❯   1 # Be polite`)
		d.Press("down", "down")
		d.WaitFor(`(?m)^❯   3 1\. Say \*\*good day\*\*\.`)
		d.Press("m")
		d.WaitFor(`(?m)^on line 3:`)
		d.Type("to whom?")
		d.Press("enter")
		d.WaitFor(`↳ to whom\?`)
		d.WaitFor(`line 3 of 4, 1 comment`)
		d.Press("n")
		d.WaitFor(`(?s)the plan.*# Ask whom.*y carry it out`)
		if told := d.told(1); !strings.Contains(told, comment) || !strings.Contains(told, "present it again") {
			t.Errorf("told %q", told)
		}
		d.awake("y carry it out")
		d.Press("1")
		d.WaitFor(`All done\.`)
		d.idle()
		d.leave()
	})
	t.Run("plain lines", func(t *testing.T) {
		d := newDesk(t, llmtest.NewServer(t, planCall(plan), llmtest.Turn{Text: "All done."}), nil)
		d.open()
		d.run("agent", "--screen-reader", "--permission-mode", "plan")
		d.WaitFor(`(?m)^you:`)
		d.say("be polite")
		line := `(?s)  3  1\. Say \*\*good day\*\*\..*or line, a number and a comment:`
		d.answerLine(line, "line 3 to whom?")
		d.answerLine(`Noted on line 3; it is sent with your answer\.(?s:.*)or line, a number and a comment:`, "1")
		d.WaitFor(`All done\.`)
		if told := d.told(1); !strings.Contains(told, comment) || !strings.Contains(told, "accepted this plan") {
			t.Errorf("told %q", told)
		}
	})
}

// In the other modes there is nothing to accept, and the model goes on.
func TestPlanOutsideThePlanMode(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, planCall("# Be polite\n"), llmtest.Turn{Text: "I go on."}), nil)
	d.sit()
	d.say("be polite")
	d.WaitFor(`I go on`)
	d.idle()
	if told := d.told(1); !strings.Contains(told, "the permission mode is not plan") {
		t.Errorf("told %q", told)
	}
	d.leave()
}

// In -p the plan is the answer: nothing is run, and nothing was denied.
func TestPlanIsTheAnswer(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{"text": "# Be polite\n\n1. Say good day.\n", "json": `"result":"# Be polite\n\n1. Say good day.\n"`} {
		turn := planCall("# Be polite\n\n1. Say good day.\n")
		turn.Calls = append(turn.Calls, llmtest.Call{Name: "execute_command", Args: `{"command":"touch made"}`})
		d := newDesk(t, llmtest.NewServer(t, turn), nil)
		code, out := d.prompted("--permission-mode", "plan", "--output-format", format)
		if code != 0 || !strings.Contains(out, want) || strings.Contains(out, "read enough") {
			t.Errorf("%s: exit status %d:\n%s", format, code, out)
		}
		if n := len(d.server.Requests()); n != 1 {
			t.Errorf("%s: %d requests", format, n)
		}
	}
}

// A linked editor shows the plan as a document. The person comments on a line there, and
// accepts the next plan, as they changed it, with the mode to go on in. The terminal may
// answer first, with the text of the editor.
func TestPlanInTheEditor(t *testing.T) {
	t.Parallel()
	const plan = "# Be polite\n\n1. Say good day.\n"
	d := newDesk(t, llmtest.NewServer(t, planCall(plan), planCall(plan+"2. Test it.\n"), editCall("hello", "good day"), llmtest.Turn{Text: "All done."},
		planCall("# More\n"), llmtest.Turn{Text: "Gone on."}), map[string]string{"main.go": program})
	e := d.editor(idetest.Ours())
	d.sit("--permission-mode", "plan")
	d.WaitFor(`Visual Studio Code`)
	d.say("be polite")
	diff := e.NextDiff()
	if diff.Text != plan || !strings.Contains(string(diff.Args), `"view":"plan"`) {
		t.Errorf("asked for %s", diff.Args)
	}
	d.WaitFor(`also open in Visual Studio Code`)
	diff.RejectWith(map[string]any{"comments": []any{map[string]any{"side": "modified", "startLine": 3, "endLine": 3, "quote": "1. Say good day.", "text": "and to whom?"}}})
	diff = e.NextDiff()
	if told, want := d.told(1), `The user's comment on line 3 of the proposal, "1. Say good day.": and to whom?`; !strings.Contains(told, want) || !strings.Contains(told, "present it again") {
		t.Errorf("the comment: %q", told)
	}
	diff.Edit(plan + "2. Test it well.\n")
	diff.AcceptWith(map[string]any{"mode": "accept-edits"})
	d.WaitFor(`All done`)
	d.WaitFor(`accept-edits mode`)
	d.idle()
	if told := d.told(2); !strings.Contains(told, "\n\n"+plan+"2. Test it well.\n") {
		t.Errorf("the accepted plan: %q", told)
	}
	d.say("/permissions plan")
	d.WaitFor(`plan mode`)
	d.say("more")
	diff = e.NextDiff()
	diff.Edit("# Much more\n")
	d.WaitFor(`edited in Visual Studio Code`)
	d.awake("y carry it out")
	d.Press("y")
	d.WaitFor(`Gone on`)
	<-diff.Closed
	if told := d.told(5); !strings.Contains(told, "# Much more\n") {
		t.Errorf("the plan that the terminal accepted: %q", told)
	}
	d.idle()
	d.leave()
}

// An editor that names no mode, or one that a person did not choose, gets the strictest;
// another editor is not asked.
func TestPlanInOtherEditors(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"", "bypass"} {
		d := newDesk(t, llmtest.NewServer(t, planCall("# Be polite\n"), llmtest.Turn{Text: "All done."}), nil)
		e := d.editor(idetest.Ours())
		d.sit("--permission-mode", "plan")
		d.WaitFor(`Visual Studio Code`)
		d.say("be polite")
		e.NextDiff().AcceptWith(map[string]any{"mode": mode})
		d.WaitFor(`All done`)
		d.WaitFor(`default mode`)
		d.idle()
		d.leave()
	}
	d := newDesk(t, llmtest.NewServer(t, planCall("# Be polite\n"), llmtest.Turn{Text: "All done."}), nil)
	e := d.foreign(idetest.Neovim())
	d.sit("--permission-mode", "plan")
	d.WaitFor(`Neovim`)
	d.say("be polite")
	d.WaitFor(`the plan`)
	d.awake("y carry it out")
	d.Press("y")
	d.WaitFor(`All done`)
	d.idle()
	if asked := e.Requests("openDiff"); len(asked) > 0 {
		t.Errorf("the other editor was asked: %s", asked[0].Params)
	}
	d.leave()
}

// An accepted plan is found again: by /plan, in the full conversation, and in a resumed session.
func TestThePlanIsSeenAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, planCall("# Be polite\n\n1. Say **good day**.\n"), llmtest.Turn{Text: "All done."}, llmtest.Turn{Text: "I plan."}), nil)
	const steps = `# Be polite(?s:.*)1\. Say good day\.`
	d.sit()
	d.say("/plan")
	d.WaitFor(`Plan mode: the model`)
	d.say("be polite")
	d.WaitFor(steps)
	d.awake("y carry it out")
	d.Press("1")
	d.WaitFor(`All done`)
	d.idle()
	d.say("/clear") // of the screen, too
	d.WaitFor(`Started a new session`)
	d.say("/resume")
	d.WaitFor(`be polite.*ago|be polite.*just now`)
	d.Press("enter")
	d.WaitFor(`(?s)Session resumed.*accepted by the user(?s:.*)` + steps + `.*All done`)
	d.Press("ctrl+l")
	d.say("/plan")
	d.WaitFor(`(?s)^The accepted plan(?s:.*)` + steps + `.*q back`)
	d.Press("q")
	d.WaitFor(`(?m)^❯ *$`)
	d.Press("ctrl+o")
	d.WaitFor(`(?s)^The full conversation.*Plan: Be polite(?s:.*)` + steps)
	d.Press("q")
	d.WaitFor(`(?m)^❯ *$`)
	d.say("/plan something else")
	d.WaitFor(`(?s)Plan mode: the model.*❯ something else.*I plan\.`)
	d.idle()
	d.leave()
}
