package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/sandbox"
)

// newConfinedDesk returns a desk with the sandbox on, whose model writes a file outside.
func newConfinedDesk(t *testing.T) (d *desk, outside string) {
	t.Helper()
	if o := sandbox.Probe(t.Context()); o.Missing != "" {
		t.Skip(o.Missing)
	}
	outside = filepath.Join(t.TempDir(), "outside.txt")
	args, err := json.Marshal(map[string]string{"command": "echo written >" + outside})
	if err != nil {
		t.Fatal(err)
	}
	run := llmtest.Turn{Calls: []llmtest.Call{{Name: "execute_command", Args: string(args)}}}
	d = newDesk(t, llmtest.NewServer(t, run, llmtest.Turn{Text: "All done."}), nil)
	d.env = append(d.env, "AGENT_SANDBOX=auto", "TMPDIR="+t.TempDir())
	return d, outside
}

// A yes to the command does not cover leaving the sandbox, nor does the bypass mode, and no
// answer covers the next time.
func TestLeavingTheSandboxIsAQuestion(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"default", "bypass"} {
		t.Run(mode, func(t *testing.T) {
			d, outside := newConfinedDesk(t)
			d.sit("--permission-mode", mode)
			d.say("write it")
			if mode == "default" {
				d.asked(`outside\.txt`)
				d.Press("y")
			}
			d.asked(`run again without the sandbox`)
			d.WaitFor(`Permission denied`)
			if screen := d.Screen(); strings.Contains(screen, "a always") {
				t.Errorf("always is offered:\n%s", screen)
			}
			if _, err := os.Stat(outside); err == nil {
				t.Error("written before the answer")
			}
			d.Press("y")
			d.WaitFor(`All done\.`)
			if data, err := os.ReadFile(outside); err != nil || string(data) != "written\n" {
				t.Errorf("%q, %v", data, err)
			}
			if told := d.told(1); !strings.Contains(told, "failed in the sandbox; the user let it run again without") {
				t.Errorf("the model was told %q", told)
			}
			d.idle()
			d.leave()
		})
	}
}

func TestStayingInTheSandbox(t *testing.T) {
	t.Parallel()
	d, outside := newConfinedDesk(t)
	d.sit()
	d.say("write it")
	d.asked(`outside\.txt`)
	d.Press("y")
	d.asked(`run again without the sandbox`)
	d.Press("n")
	d.WaitFor(`All done\.`)
	if _, err := os.Stat(outside); err == nil {
		t.Error("written although the answer was no")
	}
	if told := d.told(1); !strings.Contains(told, "did not let it run again without") || !strings.Contains(told, "Permission denied") {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.leave()
}

// Where the agent's own folder is inside the workspace, the sandbox cannot protect it,
// and the question reports that.
func TestSandboxTellsItsGap(t *testing.T) {
	t.Parallel()
	d, _ := newConfinedDesk(t)
	d.env = append(d.env, "TMPDIR="+filepath.Dir(d.home))
	d.sit()
	d.say("write it")
	d.asked(`cannot protect the agent's own`)
	d.Press("n")
	d.WaitFor(`Declined\. What should I do`)
	d.idle()
	d.leave()
}
