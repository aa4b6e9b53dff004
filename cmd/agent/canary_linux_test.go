package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// The search finds a key in the environment of a child.
func TestCanaryIsFoundInAChild(t *testing.T) {
	strace := straces(t)
	for env, want := range map[string]int{"PLANTED=" + canary: 2, "NONE=": 0} {
		file := filepath.Join(t.TempDir(), "trace")
		cmd := exec.Command(strace, "-f", "-qq", "-v", "-s", "65536", "-e", "trace=execve", "-o", file, "--", "sh", "-c", "env; env; true")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), env}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := carriers(string(text)); len(got) != want {
			t.Errorf("%s: %d children with the key, want %d:\n%s", env, len(got), want, text)
		}
	}
}

// The children of a session have no key: of the model's command and the person's, in the
// background too.
func TestCanaryInNoChild(t *testing.T) {
	straces(t)
	t.Setenv("AGENT_TEST_CANARY", "1")
	call := func(args string) llmtest.Turn {
		return llmtest.Turn{Calls: []llmtest.Call{{Name: "execute_command", Args: args}}}
	}
	d := newDesk(t, llmtest.NewServer(t, call(`{"command":"env"}`), call(`{"command":"ls; grep -rn x ."}`), llmtest.Turn{Text: "Done."}), map[string]string{"x": "x\n"})
	d.sit("--permission-mode", "bypass")
	d.say("look")
	d.WaitFor(`Done\.`)
	d.idle()
	d.say("!env | sort")
	d.WaitFor(`VISUAL=false`)
	d.idle()
	d.leave()
	text, err := os.ReadFile(d.trace)
	if err != nil {
		t.Fatal(err)
	}
	children := strings.Count(string(text), "execve(") - 1
	if children < 4 {
		t.Errorf("%d children were traced:\n%s", children, text)
	}
	for n := range 3 {
		if strings.Contains(string(d.request(n)), canary) {
			t.Errorf("request %d tells the model the key", n)
		}
	}
	t.Log(fmt.Sprint(children, " children"))
}
