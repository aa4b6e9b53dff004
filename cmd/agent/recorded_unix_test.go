//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// replay runs agent replay with a home of its own and returns its output and status.
func replay(t *testing.T, args ...string) (out string, status int) {
	t.Helper()
	cmd := exec.Command("agent", append([]string{"replay"}, args...)...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "AGENT_HOME="+filepath.Join(home, "h"))
	data, _ := cmd.CombinedOutput()
	return string(data), cmd.ProcessState.ExitCode()
}

const recorded = "testdata/recorded"

// TestRecordedSessions replays the sessions of testdata/recorded strictly.
func TestRecordedSessions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(recorded + "/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d recorded sessions, %v", len(files), err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			t.Parallel()
			if out, status := replay(t, "--strict", "--run-commands", f, recorded+"/project"); status != 0 || !strings.Contains(out, ": the same ") {
				t.Errorf("status %d: %s", status, out)
			}
		})
	}
}

// TestMutatedRecordings: each mutation of a recorded session fails for its own reason.
func TestMutatedRecordings(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]struct {
		file, from, to string
		flags          []string
		want           string
	}{
		"another proposal": {"no-because", `"new_string":"good evening"`, `"new_string":"good night"`, nil, "greet.py differs from its content after the session"},
		"another proposal, strictly": {
			"no-because", `"new_string":"good evening"`, `"new_string":"good night"`,
			[]string{"--strict"},
			`question 2, edit of "greet.py" by edit_file, approved, has another text than recorded`,
		},
		"another result": {"yes", "Wrote greet.py: 1 added", "Wrote greet.py: 2 added", nil, "expects a tool result to contain"},
		"another prompt": {"yes", "text: be polite", "text: be quiet", nil, "expects the prompt to contain"},
		"another answer": {"no", "answer: declined", "answer: approved", nil, `expects the prompt to contain "what now?"`},
		"another file":   {"accept-edits", "subject: new/a.txt", "subject: new/b.txt", nil, "refused by the replay"},
		"no question":    {"nobody", "kind: edit", "kind: read", nil, "this question was not recorded"},
		"one turn less":  {"tools", "  - expect:\n      - result_contains: 'Wrote notes.txt: 1 added, 1 removed (lines).'\n    text: All in capitals, nearly.\n", "", nil, "no turn left"},
		"commands":       {"commands", "x", "x", nil, "give --run-commands"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := scratch.Read(t, recorded+"/"+m.file+".yaml")
			if !strings.Contains(data, m.from) {
				t.Fatalf("no %q in\n%s", m.from, data)
			}
			file := filepath.Join(t.TempDir(), "mutated.yaml")
			scratch.Write(t, file, strings.Replace(data, m.from, m.to, 1))
			out, status := replay(t, append(m.flags, file, recorded+"/project")...)
			if status != 1 && !(status == 2 && name == "commands") || !strings.Contains(out, m.want) {
				t.Errorf("status %d: %s", status, out)
			}
		})
	}
}

// TestRecord records a session of this program and replays it: the same, and in a changed
// folder not.
func TestRecord(t *testing.T) {
	t.Parallel()
	dir := scratch.Dir(t, map[string]string{"a.txt": "one\n"})
	home := t.TempDir()
	script := filepath.Join(home, "script.yaml")
	scratch.Write(t, script, `turns:
  - calls: [{tool: write_file, args: {path: `+dir+`/b.txt, content: "two\n"}}, {tool: read_file, args: {path: a.txt}}]
  - text: The key is sk-0123456789abcdefghij, as I said; others are stored-without-form, beginning with stored-wi, and variable-without-form.
`)
	scratch.Write(t, home+"/h/credentials.json", `{"https://models.example/v1":{"key":"stored-without-form"}}`)
	agent := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("agent", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+home, "AGENT_HOME="+home+"/h", "AGENT_MODEL=script:"+script, "OTHER_TOKEN=variable-without-form")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("agent %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	agent("-p", "write", "--permission-mode", "accept-edits")
	id, _, _ := strings.Cut(agent("sessions", "list"), " ")
	file := filepath.Join(home, "recorded.yaml")
	if notes := agent("record", id, "-o", file); !strings.Contains(notes, "secrets were left out") {
		t.Errorf("record says %q", notes)
	}
	if text := scratch.Read(t, file); strings.Contains(text, "sk-") || strings.Contains(text, "without") || strings.Contains(text, "stored-wi") || strings.Contains(text, dir) {
		t.Errorf("in the recording:\n%s", text)
	}
	before := scratch.Dir(t, map[string]string{"a.txt": "one\n"})
	if out, status := replay(t, "--strict", file, before); status != 0 {
		t.Errorf("status %d: %s", status, out)
	}
	if _, err := os.Stat(before + "/b.txt"); err == nil {
		t.Error("the replay wrote into the folder itself")
	}
	if out, status := replay(t, file, scratch.Dir(t, nil)); status != 1 || !strings.Contains(out, "expects a tool result to contain") {
		t.Errorf("without a.txt: status %d: %s", status, out)
	}
}

// A replay reads a file outside of its folder only with --read-outside.
func TestReplayReadsOutside(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(scratch.Dir(t, map[string]string{"diary.txt": "dear diary\n"}), "diary.txt")
	file := filepath.Join(t.TempDir(), "reads.yaml")
	scratch.Write(t, file, `recording:
  prompts: [{text: read}]
  questions:
    - {tool: read_file, kind: read, subject: "`+outside+`", answer: approved, by: terminal}
turns:
  - calls: [{tool: read_file, args: {path: "`+outside+`"}}]
  - expect: [{result_contains: dear diary}]
    text: Read.
`)
	if out, status := replay(t, file, recorded+"/project"); status != 2 || !strings.Contains(out, "give --read-outside:\n"+outside) {
		t.Errorf("status %d: %s", status, out)
	}
	if out, status := replay(t, "--read-outside", file, recorded+"/project"); status != 0 {
		t.Errorf("status %d: %s", status, out)
	}
}

// A command that changes a file after its edit, as a formatter does, makes no difference; the
// files that only commands make are not compared.
func TestReplayOfAFormatter(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.txt": "one\n"}
	dir, home := scratch.Dir(t, files), t.TempDir()
	scratch.Write(t, home+"/script.yaml", `turns:
  - calls: [{tool: write_file, args: {path: a.txt, content: "two\n"}}]
  - calls: [{tool: execute_command, args: {command: "echo formatted >> a.txt; date +%N > log.txt"}}]
  - text: Done.
`)
	agent := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("agent", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+home, "AGENT_HOME="+home+"/h", "AGENT_MODEL=script:"+home+"/script.yaml")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("agent %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	agent("-p", "write", "--permission-mode", "bypass")
	id, _, _ := strings.Cut(agent("sessions", "list"), " ")
	if log := agent("audit", "export"); strings.Count(log, `"tool":"execute_command","subject":"`+dir) != 2 {
		t.Errorf("the audit log:\n%s", log)
	}
	agent("record", id, "-o", home+"/recorded.yaml")
	if out, status := replay(t, "--run-commands", home+"/recorded.yaml", scratch.Dir(t, files)); status != 0 || !strings.Contains(out, "1 files") {
		t.Errorf("status %d: %s", status, out)
	}
}

// TestDeclinedCommandsNeedNoFlag: a recording whose commands were all declined replays without
// --run-commands.
func TestDeclinedCommandsNeedNoFlag(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "declined.yaml")
	scratch.Write(t, file, `recording:
  prompts: [{text: run}]
  questions:
    - {tool: execute_command, kind: command, subject: "touch seven.txt", answer: declined, by: terminal, words: rather not}
turns:
  - calls: [{tool: execute_command, args: {command: "touch seven.txt"}}]
  - expect: [{result_contains: rather not}]
    text: I leave it.
`)
	if out, status := replay(t, file, recorded+"/project"); status != 0 || !strings.Contains(out, "1 questions") {
		t.Errorf("status %d: %s", status, out)
	}
}

// TestReplayRunsWhatItShows: --run-commands runs the commands that replay lists without it, and
// no command that a recording passes off as one that only reads.
func TestReplayRunsWhatItShows(t *testing.T) {
	t.Parallel()
	made := filepath.Join(t.TempDir(), "made")
	file := filepath.Join(t.TempDir(), "hostile.yaml")
	scratch.Write(t, file, `recording:
  prompts: [{text: run}]
  questions:
    - {tool: execute_command, kind: command, subject: "touch `+made+`", answer: approved, rule: true, by: "safe: read-only"}
    - {tool: execute_command, kind: command, subject: "touch six.txt", answer: approved, by: terminal}
turns:
  - calls: [{tool: execute_command, args: {command: "touch `+made+`"}}]
  - text: Ran.
`)
	out, status := replay(t, file, recorded+"/project")
	if status != 2 || strings.Contains(out, made) || !strings.Contains(out, "touch six.txt") {
		t.Errorf("status %d: %s", status, out)
	}
	out, status = replay(t, "--run-commands", file, recorded+"/project")
	if _, err := os.Stat(made); err == nil || status != 1 {
		t.Errorf("a command ran that replay does not show: status %d: %s", status, out)
	}
}
