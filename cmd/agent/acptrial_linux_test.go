package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestHostedTrial: in a host, a command that changes nothing in a copy needs no question, and the changes of another are
// one, with its files.
func TestHostedTrial(t *testing.T) {
	t.Parallel()
	d := trialDesk(t, map[string]string{"a.txt": "old\n", "b.txt": "old\n", "c.txt": "old\n", "test.sh": "echo passed\n"},
		runCall("grep -c old a.txt b.txt && true; sh test.sh"), runCall("sed -i s/old/new/ a.txt b.txt c.txt"), llmtest.Turn{Text: "Done."})
	b := newBuffers(d.host())
	id, _ := b.open()
	asked := 0
	b.answer = func(q map[string]any) string {
		if asked++; len(b.wrote) > 0 || d.read("a.txt") != "old\n" {
			t.Errorf("it wrote %q before the answer", b.wrote)
		}
		shown := fmt.Sprint(q)
		for _, part := range []string{"sed -i s/old/new/ a.txt b.txt c.txt", "a.txt", "b.txt", "c.txt"} {
			if !strings.Contains(shown, part) {
				t.Errorf("%s is not shown: %s", part, shown)
			}
		}
		return "allow-once"
	}
	b.prompt(id, "rename it", "end_turn")
	files := map[string]string{"a.txt": "new\n", "b.txt": "new\n", "c.txt": "new\n", "test.sh": "echo passed\n"}
	checkFiles(t, d.dir, files)
	if told := d.told(1); asked != 1 || !strings.Contains(told, "passed") || !strings.Contains(told, "it ran in a copy") {
		t.Errorf("%d questions; the model was told %q", asked, told)
	}
	b.answer = func(map[string]any) string { return "allow-once" }
	b.prompt(id, "/undo", "end_turn")
	for name := range files {
		if name != "test.sh" {
			files[name] = "old\n"
		}
	}
	checkFiles(t, d.dir, files)
	b.end()
}

// TestHostedTurnThatMakesTestsPassIsOneQuestion: in a host, too, a turn with red and green tests is one question, about its files.
func TestHostedTurnThatMakesTestsPassIsOneQuestion(t *testing.T) {
	t.Parallel()
	d := trialDesk(t, redProject, turnsToGreen()...)
	d.env = append(d.env, "AGENT_REVIEW=turn")
	b := newBuffers(d.host())
	id, _ := b.open()
	asked := 0
	b.answer = func(q map[string]any) string {
		asked++
		d.sawThemPass()
		if shown := fmt.Sprint(q); !strings.Contains(shown, "a.txt") || !strings.Contains(shown, "b.txt") || strings.Contains(shown, "make test") {
			t.Errorf("the question is %s", shown)
		}
		return "allow-once"
	}
	b.prompt(id, "make the tests pass", "end_turn")
	checkFiles(t, d.dir, greenProject())
	if asked != 1 {
		t.Errorf("%d questions", asked)
	}
	b.end()
}
