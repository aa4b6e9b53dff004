package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/trial"
)

// TestHostedTrial: in a host, a command that changes nothing in a copy needs no question, and the changes of another are
// one, with its files.
func TestHostedTrial(t *testing.T) {
	t.Parallel()
	if why := trial.Probe(t.Context(), filepath.Join(t.TempDir(), "trials")).Missing; why != "" {
		t.Skip(why)
	}
	d := newDesk(t, llmtest.NewServer(t, runCall("grep -c old a.txt b.txt && true; sh test.sh"), runCall("sed -i s/old/new/ a.txt b.txt c.txt"), llmtest.Turn{Text: "Done."}),
		map[string]string{"a.txt": "old\n", "b.txt": "old\n", "c.txt": "old\n", "test.sh": "echo passed\n"})
	d.env = append(d.env, "AGENT_TRIAL=auto")
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
