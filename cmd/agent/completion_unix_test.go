//go:build unix

package main

import (
	"os/exec"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestBashAlone completes in a bash without the bash-completion package: commands,
// values behind a blank and behind an equals sign, sessions, files.
func TestBashAlone(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: "Hello."}), map[string]string{"my file.txt": ""})
	out, err := agentIn(t, d.dir, "completion", "bash").Output()
	if err != nil {
		t.Fatal(err)
	}
	rc := d.path("rc")
	scratch.Write(t, rc, "PS1='> '\nbind 'set show-all-if-ambiguous on'\n"+string(out))
	d.sit()
	d.say("greet me")
	d.WaitFor(`Hello\.`)
	d.leave()

	d.open()
	d.run("bash", "--noprofile", "--rcfile", rc, "-i")
	d.WaitFor(`(?m)^>\s*$`)
	for _, c := range []struct{ typed, want string }{
		{"agent doc", `> agent doctor `},
		{"agent --permission-mode by", `> agent --permission-mode bypass `},
		{"agent --permission-mode=by", `> agent --permission-mode=bypass `},
		{"agent --output-format=json --permission-mode=by", `> agent --output-format=json --permission-mode=bypass `},
		{"agent -r ", `> agent -r [0-9a-z-]{8,} `},
		{"agent --resume=", `> agent --resume=[0-9a-z-]{8,} `},
		{"agent sessions show ", `> agent sessions show [0-9a-z-]{8,} `},
		{"agent my", `> agent my\\ file.txt `},
	} {
		d.Type(c.typed)
		d.Press("tab")
		d.Type("#")
		d.WaitFor(`(?m)^` + c.want + `#$`)
		d.Press("ctrl+u")
		d.WaitFor(`(?m)^>\s*$`)
	}
	d.Type("exit\r")
	d.Wait()
}
