//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// begin starts the program on a new terminal of a size, without waiting.
func (d *desk) begin(width, height int, args ...string) {
	d.t.Helper()
	d.Terminal = ptytest.New(d.t, vt.Options{Width: width, Height: height})
	cmd := d.program(args...)
	d.Start(cmd)
}

func TestAProjectIsAskedAboutOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "Looked."), nil)
	scratch.Mkdir(t, d.path(".agent/commands"))
	d.write(".agent/config.yaml", "encoding: big5\neditor: evil\n")
	d.write(".agent/commands/look.md", "Look at it.")

	// Esc exits and saves nothing.
	d.begin(40, 24)
	d.WaitFor(`Esc exits`)
	d.Press("esc")
	if code := d.Wait(); code != 1 {
		t.Errorf("exit status %d", code)
	}
	d.WaitFor(`exited without an answer`)
	d.restored()
	if _, err := os.Stat(filepath.Join(d.home, "trust.json")); err == nil {
		t.Error("an answer was kept")
	}

	d.begin(100, 30)
	d.WaitFor(`(?s)Trust the files.*encoding: big5.*line 2: a project cannot set editor.*look\.md`)
	d.choose("2")
	d.WaitFor(`(?m)^❯`)
	d.say("/look")
	d.WaitFor(`Looked\.`)
	d.idle()
	d.leave()

	d.sit() // does not ask again
	d.leave()

	d.write(".agent/commands/look.md", "Look away.")
	d.begin(100, 30)
	d.WaitFor(`have changed since you trusted them`)
	d.choose("3")
	d.WaitFor(`(?m)^❯`)
	d.say("/look")
	d.WaitFor(`There is no /look`)
	d.leave()
	d.sit() // a no is saved too
	d.leave()
}

// Instructions go to the model after a yes that names them; a change in a session counts
// from the next yes on.
func TestInstructionsAreAskedAbout(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "One.", "Two.", "Three.", "Four."), map[string]string{"AGENTS.md": "Use\u200b tabs.\n"})
	d.begin(100, 30)
	d.WaitFor(`(?s)Trust the files.*AGENTS\.md, 13 bytes, with 1 hidden character.*Esc exits`)
	d.choose("3")
	d.WaitFor(`(?s)AGENTS\.md is not used: you have not trusted it.*❯`)
	d.say("hello")
	d.WaitFor(`One\.`)
	d.idle()
	d.leave()
	d.sit() // the no is kept
	d.leave()
	if code, out := d.command("trust", "add", "--yes"); code != 0 || !strings.Contains(out, "AGENTS.md, 13 bytes") {
		t.Errorf("exit status %d: %s", code, out)
	}

	d.sit()
	d.say("hello")
	d.WaitFor(`Two\.`)
	d.idle()
	d.write("AGENTS.md", "Use spaces instead.\n")
	d.say("again")
	d.WaitFor(`(?s)as you trusted it; it has changed since.*Three\.`)
	d.idle()
	d.leave()
	d.begin(100, 30)
	d.WaitFor(`(?s)have changed since you trusted them.*AGENTS\.md, 20 bytes.*Esc exits`)
	d.choose("2")
	d.WaitFor(`(?m)^❯`)
	d.say("hello")
	d.WaitFor(`Four\.`)
	d.idle()
	d.leave()
	for n, want := range []string{"", " tabs.", " tabs.", "Use spaces instead."} {
		body := string(d.request(n))
		for _, text := range []string{" tabs.", "Use spaces instead."} {
			if strings.Contains(body, text) != (text == want) {
				t.Errorf("request %d: want %q, not %q in\n%s", n, want, text, body)
			}
		}
	}
}

// An edit of instructions that the person approved needs no other yes: they saw the text.
func TestApprovedInstructions(t *testing.T) {
	t.Parallel()
	call := llmtest.Call{Name: "write_file", Args: `{"path":"AGENTS.md","content":"Use tabs.\n"}`}
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Calls: []llmtest.Call{call}}, llmtest.Turn{Text: "Done."}, llmtest.Turn{Text: "Again."}), nil)
	d.sit()
	d.say("write it")
	d.asked(`create AGENTS\.md`)
	d.Type("y")
	d.WaitFor(`Done\.`)
	d.idle()
	d.leave()
	d.sit()
	d.say("hello")
	d.WaitFor(`Again\.`)
	d.idle()
	d.leave()
	for n, want := range []bool{false, true, true} {
		if body := string(d.request(n)); strings.Contains(body, `--- AGENTS.md ---\nUse tabs.`) != want {
			t.Errorf("request %d: %s", n, body)
		}
	}
}
