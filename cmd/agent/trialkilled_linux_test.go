package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

const trialScript = `
turns:
  - calls: [{tool: execute_command, args: {command: "sed -i s/old/new/ a b c; sleep 1.3001"}}]
  - text: Done.
`

// TestKilledInATrial: SIGKILL in each phase of a trial leaves all files as before or, once they are being written,
// all as approved, and no process. The next run works.
func TestKilledInATrial(t *testing.T) {
	t.Parallel()
	needTrials(t)
	seed := stress.Seed(t)
	random := rand.New(rand.NewPCG(seed, seed))
	dir := scratch.Dir(t, map[string]string{"p/": "", "h/script.yaml": trialScript})
	project, program := filepath.Join(dir, "p"), copyOf(t, agentIn(t, dir).Path, dir)
	temporary := func() bool {
		names, err := os.ReadDir(project)
		return err == nil && len(names) > 3
	}
	phases := map[string]func() func() bool{
		"mounting": func() func() bool { return func() bool { return len(roomsOf(t, program, "set-up-room")) > 0 } },
		"running":  func() func() bool { return func() bool { return len(roomsOf(t, "", "sleep\x001.3001")) > 0 } },
		"reading": func() func() bool {
			seen := false
			return func() bool {
				runs := len(roomsOf(t, "", "sleep\x001.3001")) > 0
				seen = seen || runs
				return seen && !runs
			}
		},
		"writing": func() func() bool { return temporary },
	}
	for range stress.Size(3, 50) {
		after := time.Duration(random.IntN(1000)) * time.Millisecond
		phases["waiting for "+after.String()] = func() func() bool {
			at := time.Now().Add(after)
			return func() bool { return time.Now().After(at) }
		}
	}
	run := func(until func() bool) (killed bool) {
		cmd := agentIn(t, project, "-p", "work", "--permission-mode", "accept-edits")
		cmd.Path = program
		cmd.Env = append(cmd.Env, "AGENT_TRIAL=auto", "HOME="+filepath.Join(dir, "h"), "AGENT_HOME="+filepath.Join(dir, "h/agent"), "AGENT_MODEL=script:"+filepath.Join(dir, "h/script.yaml"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		tick := time.NewTicker(time.Millisecond / 2)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return false
			case <-tick.C:
			}
			if until() {
				_ = cmd.Process.Kill() // or it has ended
				return <-ended != nil
			}
		}
	}
	faults := stress.Faults{}
	check := func(name string, phase func() func() bool) (killed bool) {
		for _, file := range []string{"a", "b", "c"} {
			scratch.Write(t, filepath.Join(project, file), "old\n")
		}
		killed = run(phase())
		waitForNone(t, func() []string { return roomsOf(t, program, "") })
		root, err := workspace.Open(project, workspace.Options{Home: filepath.Join(dir, "h/agent")}) // recovers
		if err != nil {
			t.Fatal(err)
		}
		if err := root.Close(); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, file := range []string{"a", "b", "c"} {
			got += scratch.Read(t, filepath.Join(project, file))
		}
		if got != "old\nold\nold\n" && got != "new\nnew\nnew\n" || temporary() {
			t.Errorf("killed while %s: the files hold %q, temporary: %v", name, got, temporary())
		}
		faults[got[:3]]++
		if mounts, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(mounts), dir) {
			t.Errorf("killed while %s: a mount is left, %v", name, err)
		}
		return killed
	}
	for name, phase := range phases {
		for range 10 { // a phase can be over before it is seen
			if check(name, phase) {
				faults[name]++
				break
			}
		}
	}
	faults.Check(t, "old", "mounting", "running", "reading")
	run(func() bool { return false })
	if got := scratch.Read(t, filepath.Join(project, "a")); got != "new\n" {
		t.Errorf("afterwards a run leaves %q", got)
	}
}

// TestKilledWhileATrialAsks: SIGKILL at the question about the changes of a command leaves the folder as it was.
func TestKilledWhileATrialAsks(t *testing.T) {
	t.Parallel()
	d := trialDesk(t, map[string]string{"a.txt": "old\n"}, runCall("sed -i s/old/new/ a.txt"), llmtest.Turn{Text: "I see."})
	d.sit()
	d.say("rename it")
	d.asked("what `sed -i s/old/new/ a.txt` would change")
	d.Signal(os.Kill)
	if got := d.read("a.txt"); got != "old\n" {
		t.Errorf("the file holds %q", got)
	}
}

// roomsOf lists the processes of an executable file, or of any for "", whose command line has a text.
func roomsOf(t *testing.T, program, text string) (pids []string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range lines {
		line, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(line), text) {
			continue
		}
		exe, err := os.Readlink(filepath.Join(filepath.Dir(file), "exe"))
		if program == "" || err == nil && exe == program {
			pids = append(pids, filepath.Dir(file))
		}
	}
	return pids
}
