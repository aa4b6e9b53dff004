package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// ranFile is the content of a file that a test notices when it runs.
const ranFile = "touch ran\n"

// unseenForms are lines, each with the file that it runs and that the model changes.
var unseenForms = []struct {
	line, file, text string
	files            map[string]string
}{
	{"timeout 5 sh t/h", "t/h", ranFile, nil},
	{"{ sh t/h; }", "t/h", ranFile, nil},
	{"sh < t/h", "t/h", ranFile, nil},
	{"cat t/h | sh", "t/h", ranFile, nil},
	{"if true; then D=t; sh $D/h; fi", "t/h", ranFile, nil},
	{`eval "$(cat t/h)"`, "t/h", ranFile, nil},
	{"find t -name h -exec sh {} +", "t/h", ranFile, nil},
	{"make -s h", "Makefile", "h:\n\ttouch ran\n", nil},
	{"python3 -m mod", "mod.py", "open('ran', 'w')\n", nil},
	{"sh run", "lib/x.sh", ranFile, map[string]string{"run": ". \"$(dirname \"$0\")/lib/x.sh\"\n"}},
	{"git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x", "h/pre-commit", ranFile, map[string]string{".git/config": "[core]\n\thooksPath = h\n"}},
}

// straced runs the program to its end under strace, and returns its output and the programs that
// it started.
func (d *desk) straced(args ...string) (printed, started string) {
	d.t.Helper()
	agent, err := exec.LookPath("agent")
	if err != nil {
		d.t.Fatal(err)
	}
	trace := filepath.Join(d.t.TempDir(), "trace")
	cmd := exec.Command(straces(d.t), append([]string{"-f", "-qq", "-s", "4096", "-o", trace, "-e", "trace=execve,execveat", "-e", "signal=none", "--", agent}, args...)...)
	cmd.Dir, cmd.Env = d.dir, d.env
	out, _ := cmd.CombinedOutput() // a call that was denied is in the exit status
	text, err := os.ReadFile(trace)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(out), string(text)
}

// TestNoHookRunsAnUnseenFile: in accept-edits mode the model writes a file that a hook, of the user
// or of the project, or an allowed command runs. Nothing runs it, and the user is told.
func TestNoHookRunsAnUnseenFile(t *testing.T) {
	t.Parallel()
	for _, f := range unseenForms {
		for _, by := range []string{"user", "project", "rule"} {
			t.Run(by+": "+f.line, func(t *testing.T) {
				write := callOf("write_file", `{"path":"`+f.file+`","content":`+strconv.Quote(f.text)+`}`)
				then := runTurn(strings.ReplaceAll(strings.ReplaceAll(f.line, `\`, `\\`), `"`, `\"`))
				d := newDesk(t, llmtest.NewServer(t, write, then, llmtest.Turn{Text: "All done."}), f.files)
				if out, err := exec.Command("git", "init", "-q", d.dir).CombinedOutput(); err != nil {
					t.Fatalf("%v %s", err, out)
				}
				if config := f.files[".git/config"]; config != "" {
					scratch.Write(t, d.path(".git/config"), config)
				}
				scratch.Mkdir(t, filepath.Dir(d.path(f.file)))
				scratch.Program(t, d.path(f.file), "true\n")
				args := []string{"-p", "x", "--permission-mode", "accept-edits", "--allow", "edit(**)"}
				hook := `{"hooks":{"PostToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":` + strconv.Quote(f.line) + `}]}]}}`
				switch by {
				case "user":
					d.keep("config.yaml", hook)
				case "project":
					scratch.Mkdir(t, d.path(".agent"))
					d.write(".agent/hooks.json", hook)
					if out, err := d.program("trust", "add", "--yes").CombinedOutput(); err != nil {
						t.Fatalf("%v %s", err, out)
					}
				case "rule":
					first := strings.Fields(strings.TrimLeft(f.line, "{ "))[0]
					args = append(args, "--allow", "run("+first+" **)")
				}
				printed, started := d.straced(args...)
				if got := d.read(f.file); got != f.text {
					t.Fatalf("the model's edit is missing: %q\n%s", got, printed)
				}
				if d.has("ran") {
					t.Errorf("it ran:\n%s\n%s", printed, started)
				}
				if by != "rule" && !strings.Contains(printed, "it was not run, because ") {
					t.Errorf("nobody was told:\n%s", printed)
				}
				if f.file == "t/h" && strings.Contains(started, "t/h\"") {
					t.Errorf("a program got the file:\n%s", started)
				}
			})
		}
	}
}

// A hook whose files were changed unseen is asked about, once; and an edit that the person saw is no
// reason to ask.
func TestAHookAsksAboutAnUnseenFile(t *testing.T) {
	t.Parallel()
	edit := func(before, after string) llmtest.Turn {
		return callOf("edit_file", `{"path":"t/h","old_string":"`+before+`","new_string":"`+after+`"}`)
	}
	d := newDesk(t, llmtest.NewServer(t, edit("one", "two"), llmtest.Turn{Text: "Seen."}, edit("two", "three"), llmtest.Turn{Text: "Unseen."}, edit("three", "four"), llmtest.Turn{Text: "Refused."}),
		map[string]string{"t/h": "echo one >> out\n"})
	d.keep("config.yaml", hookConfig("PostToolUse", "Edit", "{ sh t/h; }"))
	d.sit()
	d.say("change it")
	d.asked(`echo two`)
	d.Press("y")
	d.WaitFor(`Seen\.`)
	if out := d.read("out"); out != "two\n" {
		t.Errorf("after a change that was seen: %q", out)
	}
	d.idle()
	d.Press("shift+tab")
	d.WaitFor(`accept.edits`)
	d.say("again")
	d.asked(`(?s)t/h was changed without being\s+shown.*\$ \{ sh t/h; \}`)
	if out := d.read("out"); out != "two\n" {
		t.Errorf("before the answer: %q", out)
	}
	d.Press("y")
	d.WaitFor(`Unseen\.`)
	if out := d.read("out"); out != "two\nthree\n" {
		t.Errorf("after a yes: %q", out)
	}
	d.idle()
	d.say("again")
	d.asked(`(?s)t/h was changed without being\s+shown.*\$ \{ sh t/h; \}`)
	d.Press("n")
	d.WaitFor(`it was not run, because t/h was`)
	if out := d.read("out"); out != "two\nthree\n" {
		t.Errorf("after a no: %q", out)
	}
	d.leave()
}

// A file that another program changed between two sessions is not run by a hook of the user's.
func TestAHookAfterAPull(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "One.", "Two."), map[string]string{"t/h": "echo one >> out\n"})
	d.keep("config.yaml", hookConfig("Stop", "''", "sh -c '. t/h'"))
	run := func() string {
		out, err := d.program("-p", "x").CombinedOutput()
		if err != nil {
			t.Fatalf("%v %s", err, out)
		}
		return string(out)
	}
	run()
	d.write("t/h", ranFile)
	out := run()
	if d.read("out") != "one\n" || d.has("ran") || !strings.Contains(out, "has changed since the last session here") {
		t.Errorf("%q, ran %v: %s", d.read("out"), d.has("ran"), out)
	}
}
