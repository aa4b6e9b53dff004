package main

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/trial"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// needTrials skips a test on a system without trials.
func needTrials(t *testing.T) {
	t.Helper()
	if why := noTrials(); why != "" {
		t.Skip(why)
	}
}

// trialDesk is a desk on which commands first run in a copy of the folder.
func trialDesk(t *testing.T, files map[string]string, turns ...llmtest.Turn) *desk {
	t.Helper()
	needTrials(t)
	d := newDesk(t, llmtest.NewServer(t, turns...), files)
	d.env = append(d.env, "AGENT_TRIAL=auto")
	return d
}

// TestATrialIsOneReview: the changes of a command are one question, with its files; a file that is
// left out stays, and one undo takes the others back.
func TestATrialIsOneReview(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.txt": "old\n", "b.txt": "old\n", "c.txt": "old\n"}
	d := trialDesk(t, files, runCall("sed -i s/old/new/ *.txt"), llmtest.Turn{Text: "I see."})
	d.sit()
	d.say("rename it")
	d.asked("what `sed -i s/old/new/ \\*.txt` would change: 3 files")
	for name, text := range files {
		if got := d.read(name); got != text {
			t.Errorf("before the answer %s holds %q", name, got)
		}
	}
	d.Press("end", "space")
	d.WaitFor(`○ edit   c\.txt`)
	d.Press("home", "enter")
	d.WaitFor(`file 1 of 3`)
	d.Press("tab")
	d.WaitFor(`file 2 of 3`)
	d.Press("esc")
	d.asked(`1 left unchanged`)
	d.Press("y")
	d.WaitFor(`I see\.`)
	if got := d.read("a.txt") + d.read("b.txt") + d.read("c.txt"); got != "new\nnew\nold\n" {
		t.Errorf("the files hold %q", got)
	}
	if told := d.told(1); !strings.Contains(told, "it ran in a copy of the folder") || !strings.Contains(told, "left out") {
		t.Errorf("the model was told %q", told)
	}
	d.say("/undo")
	d.asked("undo")
	d.Press("y")
	d.WaitFor(`(?i)restored|undone|reverted`)
	if got := d.read("a.txt") + d.read("b.txt"); got != "old\nold\n" {
		t.Errorf("after the undo the files hold %q", got)
	}
}

// redProject has files of a project with red tests; turnsToGreen are those of a model that makes them pass: it runs them, changes a
// file with a tool and another by a command, and runs them after each.
var redProject = map[string]string{
	"Makefile": "test:\n\t@sh test.sh\n", "a.txt": "one\n", "b.txt": "one\n",
	"test.sh": "grep -q two a.txt || { echo FAIL a; exit 1; }\ngrep -q two b.txt || { echo FAIL b; exit 1; }\necho passed\n",
}

func turnsToGreen() []llmtest.Turn {
	return []llmtest.Turn{
		runCall("make test"),
		{Calls: []llmtest.Call{{Name: "edit_file", Args: `{"path":"a.txt","old_string":"one","new_string":"two"}`}}},
		runCall("make test"),
		runCall("sed -i s/one/two/ b.txt"),
		runCall("make test"),
		{Text: "It passes."},
		{Text: "Written."},
	}
}

// sawThemPass checks the results of the runs of turnsToGreen, and that nothing is written yet.
func (d *desk) sawThemPass() {
	d.t.Helper()
	for n, said := range map[int]string{1: "FAIL a", 3: "FAIL b", 5: "passed"} {
		if told := d.told(n); !strings.Contains(told, said) || !strings.Contains(told, "it ran in a copy of the folder") {
			d.t.Errorf("result %d is %q, without %s", n, told, said)
		}
	}
	checkFiles(d.t, d.dir, redProject)
}

// greenProject returns the files of redProject after a yes.
func greenProject() map[string]string {
	files := maps.Clone(redProject)
	files["a.txt"], files["b.txt"] = "two\n", "two\n"
	return files
}

// TestATurnThatMakesTestsPassIsOneQuestion: with one review for a turn, commands see the edits that wait, and their changes wait
// with them: a turn with red and green tests is one question, about the files.
func TestATurnThatMakesTestsPassIsOneQuestion(t *testing.T) {
	t.Parallel()
	d := trialDesk(t, redProject, turnsToGreen()...)
	d.env = append(d.env, "AGENT_REVIEW=turn")
	d.sit()
	d.say("make the tests pass")
	d.asked(`all changes of this turn: 2 files \+2 −2`)
	d.sawThemPass()
	d.Press("enter")
	d.WaitFor(`\+ two`)
	d.Press("tab")
	d.WaitFor(`file 2 of 2`)
	d.Press("esc")
	d.asked(`all changes of this turn`)
	d.Press("y")
	d.WaitFor(`Review of 2 changed files · 2 of 2 files`)
	d.idle()
	checkFiles(t, d.dir, greenProject())
	d.say("/context")
	d.WaitFor(`4 commands ran in a copy of the folder: 3 of 3 questions spared\.`)
}

// TestUntriedCommandsSayWhy: a command that a copy cannot show asks with the reason, and one that missed
// something there asks whether to run here.
func TestUntriedCommandsSayWhy(t *testing.T) {
	t.Parallel()
	d := trialDesk(t, map[string]string{"net.sh": "exec 3<>/dev/tcp/198.51.100.7/80\n"},
		runCall("npm ci"),
		runCall("bash net.sh"), llmtest.Turn{Text: "No network."})
	d.sit()
	d.say("install")
	d.asked(`installs packages`)
	d.Press("n")
	d.WaitFor(`(?s)npm ci.*declined`)
	d.say("connect")
	d.asked(`it needs the network, as its run in a copy`)
	d.Press("n")
}

// TestHere: a person runs a command in the folder that ran in a copy.
func TestHere(t *testing.T) {
	t.Parallel()
	d := trialDesk(t, map[string]string{".gitignore": "out\n", "build.sh": "echo built >out\n"}, runCall("sh build.sh"), llmtest.Turn{Text: "Built."})
	d.sit()
	d.say("/here")
	d.WaitFor(`No command has run in a copy`)
	d.say("build")
	d.WaitFor(`(?s)in a copy, nothing changed.*Built\.`)
	d.absent("out")
	d.say("/here")
	d.asked(`It would run in the folder now`)
	d.Press("y")
	d.WaitUntil("the command's output", func(*vt.Terminal) bool { return d.has("out") })
	d.idle()
	if got := d.read("out"); got != "built\n" {
		t.Errorf("the folder has %q", got)
	}
}

// TestAddsWait: adding to the index is no question of its own. It waits for that about the next
// command, and commands in between see it.
func TestAddsWait(t *testing.T) {
	t.Parallel()
	d := trialDesk(t, map[string]string{"a.txt": "one\n", "b.txt": "two\n", "c.txt": "three\n"},
		runCall("git add a.txt"), runCall("git status --short"), runCall("git commit -qm first"),
		runCall("git add b.txt"), llmtest.Turn{Text: "Added."},
		runCall("git add c.txt"), runCall("git commit -qm second"), llmtest.Turn{Text: "Then not."},
		runCall("git add c.txt"), llmtest.Turn{Calls: []llmtest.Call{{Name: "edit_file", Args: `{"path":"c.txt","old_string":"three","new_string":"four"}`}}}, llmtest.Turn{Text: "Edited."})
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", d.dir}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatal(string(out), err)
		}
		return string(out)
	}
	git("init", "-q", ".")
	git("config", "user.name", "a")
	git("config", "user.email", "a@example.com")
	d.sit()
	d.say("commit it")
	d.asked(`\$ git add a.txt && git commit -qm first`)
	if told := d.told(1) + d.told(2); !strings.Contains(told, "it waits to run in the folder with the next command") || !strings.Contains(told, "A  a.txt") {
		t.Errorf("the model was told %q", told)
	}
	if got := git("ls-files"); got != "" {
		t.Errorf("before the answer the index has %q", got)
	}
	d.Press("y")
	d.asked(`\$ git add b.txt`)
	if got := git("ls-files") + git("log", "--format=%s"); got != "a.txt\nfirst\n" {
		t.Errorf("%q was committed", got)
	}
	d.Press("y")
	d.WaitUntil("the index", func(*vt.Terminal) bool { return git("ls-files") == "a.txt\nb.txt\n" })
	d.idle()
	d.say("commit the rest")
	d.asked(`\$ git add c.txt && git commit -qm second`)
	d.Press("n")
	d.WaitFor(`(?s)git commit -qm second.*declined`)
	d.idle()
	d.say("then not")
	d.WaitFor(`Then not\.`)
	d.say("edit")
	d.asked(`\$ git add c.txt`)
	d.Press("y")
	d.asked(`edit c\.txt \+1`)
	if got := git("show", ":c.txt"); got != "three\n" {
		t.Errorf("the index has %q", got)
	}
	d.Press("y")
	d.WaitFor(`Edited\.`)
	d.idle()
	d.say("/context")
	d.WaitFor(`5 commands ran in a copy of the folder: 0 of 4 questions spared\.`)
}

// TestDemoShowsATrial: in the demo the tests run in a copy, without a question.
func TestDemoShowsATrial(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	needTrials(t)
	d := &desk{t: t, Terminal: ptytest.New(t, vt.Options{Width: 100, Height: 40})}
	cmd := exec.Command("agent", "demo")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "AGENT_TRIAL=auto", "TERM=xterm-256color")
	d.Start(cmd)
	d.asked(`edit median.go \+5 −1`)
	d.Press("y")
	d.WaitFor(`(?s)Run go test \./\.\.\. · exit 0[^\n]* in a copy, nothing changed.*The tests pass`)
	d.idle()
	d.leave()
}

// reaching are the flights that write no file of a person: their status tells.
var reaching = append([]string{"signal", "environment", "memory", "open files"}, special[3:]...)

// TestFlightsFromACopy: the lines that leave the workspace without the sandbox change nothing, and reach no process, from a copy of it.
func TestFlightsFromACopy(t *testing.T) {
	needTrials(t)
	for name, line := range flights { // one after the other, as jobs of a program are to own all its commands
		t.Run(name, func(t *testing.T) {
			b := newBoxed(t, "off")
			for file, text := range map[string]string{"script.yaml": "turns: []\n", ".agent/config.yaml": "check: off\n", ".bashrc": "x\n"} {
				scratch.Write(t, filepath.Join(b.home, file), text)
			}
			root, err := workspace.Open(b.dir, workspace.Options{Home: filepath.Join(b.home, ".agent")})
			if err != nil {
				t.Fatal(err)
			}
			jobs := shell.NewJobs()
			trials, err := trial.New(trial.Options{Root: root, State: filepath.Join(b.home, ".agent/trials"), Home: filepath.Join(b.home, ".agent"), Jobs: jobs})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := errors.Join(trials.Close(), jobs.Close(), root.Close()); err != nil {
					t.Error(err)
				}
			})
			line := strings.NewReplacer("OUT", b.home, "PARENT", strconv.Itoa(os.Getpid())).Replace(line)
			out, err := trials.Run(t.Context(), shell.Options{Line: line, Dir: b.dir, Env: append(shell.Environ(os.Environ(), nil), "HOME="+b.home)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if out.ExitCode == 0 && slices.Contains(reaching, name) {
				t.Errorf("it gets out of the copy: %s", out.Output)
			}
			checkFiles(t, b.dir, map[string]string{})
			for file, text := range map[string]string{"script.yaml": "turns: []\n", ".agent/config.yaml": "check: off\n", ".bashrc": "x\n", "f": ""} {
				if data, _ := os.ReadFile(filepath.Join(b.home, file)); string(data) != text { // f is missing
					t.Errorf("%s holds %q", file, data)
				}
			}
		})
	}
}
