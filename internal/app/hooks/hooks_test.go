//go:build unix

package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// runner returns a Runner in a folder of its own with the given hooks of the user.
func runner(t *testing.T, project Project, hooks ...config.Hook) *Runner {
	t.Helper()
	jobs := shell.NewJobs()
	t.Cleanup(func() {
		if err := jobs.Close(); err != nil {
			t.Error(err)
		}
	})
	dir := project.Dir
	if dir == "" {
		dir = t.TempDir()
	}
	return New(Options{
		User: hooks, Project: project, Run: jobs.Run, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")},
		Session: func() (id, path string) { return "s1", "/s1.jsonl" }, Mode: func() string { return "accept-edits" },
		Policy: permission.New(permission.AcceptEdits),
	})
}

// changed reports whether a project's hooks, or the files that they run, have changed.
func (p Project) changed() bool {
	_, _, hash := p.look()
	return hash != p.Hash
}

func before(command string) config.Hook {
	return config.Hook{Event: PreToolUse, Command: command, Timeout: time.Minute}
}

func bash(t *testing.T, args string) Event {
	t.Helper()
	e := OfTool(PreToolUse, "execute_command", "c1")
	if err := e.SetInput(json.RawMessage(args), ""); err != nil {
		t.Fatal(err)
	}
	return e
}

// TestAnswers has each exit status and each answer.
func TestAnswers(t *testing.T) {
	blocked := func(why string) Outcome { return Outcome{Blocked: "the hook HOOK: " + why} }
	failed := func(code int, said string) Outcome {
		return Outcome{Notices: []string{fmt.Sprintf("Hook PreToolUse `HOOK` failed (exit %d): %s", code, said)}}
	}
	notice := func(why string) Outcome { return Outcome{Notices: []string{"Hook PreToolUse `HOOK`: " + why}} }
	for command, want := range map[string]Outcome{
		"true":                        {},
		"echo plain text":             {},
		"echo why >&2; exit 2":        blocked("why"),
		"echo out; exit 2":            blocked("it gave no reason"),
		"echo hm >&2; exit 1":         failed(1, "hm"),
		"exit 127":                    blocked("its program could not be started."),
		"/ 2>/dev/null":               blocked("its program could not be started."),
		"echo '{'":                    notice("its answer cannot be read: unexpected end of JSON input"),
		`echo '{"decision":"block"}'`: blocked("it gave no reason"),
		`echo '{"decision":"block","reason":"why"}'`:                          blocked("why"),
		`echo '{"decision":"approve","reason":"fine"}'`:                       {},
		`echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`:        {},
		`echo '{"hookSpecificOutput":{"permissionDecision":"deny"}}'`:         blocked("it gave no reason"),
		`echo '{"hookSpecificOutput":{"permissionDecision":"ask"}}'`:          {Ask: "The hook HOOK wants you to look: it gave no reason."},
		`echo '{"continue":true}'`:                                            {},
		`echo '{"continue":false,"stopReason":"enough"}'`:                     {Stop: "The hook HOOK ended the turn: enough"},
		`echo '{"systemMessage":"hi","suppressOutput":true}'`:                 {Notices: []string{"hi"}},
		`echo '{"hookSpecificOutput":{"additionalContext":" more "}}'`:        {Context: []string{"more"}},
		`echo '{"hookSpecificOutput":{"updatedInput":{"command":"ls"}}}'`:     {},
		`echo '{"hookSpecificOutput":{"updatedInput":{ "command" : "pwd"}}}'`: {Input: json.RawMessage(`{ "command" : "pwd"}`), Changed: []string{"HOOK"}},
		"head -c 2000000 /dev/zero; head -c 2000000 /dev/zero | tr '\\0' x":   notice("its output is longer than 1024 KiB and was not read"),
		"cat >/dev/null & sleep 1000 & echo '{\"systemMessage\":\"early\"}'":  {Notices: []string{"early"}},
		`exec <&-; echo '{"systemMessage":"does not read"}'`:                  {Notices: []string{"does not read"}},
	} {
		e := bash(t, `{"command":"ls"}`)
		got, err := runner(t, Project{}, before(command)).Run(t.Context(), e)
		if err != nil {
			t.Fatal(command, err)
		}
		replace := strings.NewReplacer("HOOK", (&hook{Hook: before(command)}).name())
		want.Blocked, want.Ask, want.Stop = replace.Replace(want.Blocked), replace.Replace(want.Ask), replace.Replace(want.Stop)
		for _, list := range [][]string{want.Notices, want.Changed} {
			for i := range list {
				list[i] = replace.Replace(list[i])
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", command, d)
		}
	}
}

// The hooks before a change judge the last input, too, and none runs after a block.
func TestOrder(t *testing.T) {
	guard := before(`if grep -q pwd; then echo no >&2; exit 2; fi`)
	change := before(`echo '{"hookSpecificOutput":{"updatedInput":{"command":"pwd"}}}'`)
	late := before("touch late")
	r := runner(t, Project{}, guard, change, late)
	got, err := r.Run(t.Context(), bash(t, `{"command":"ls"}`))
	if err != nil || !strings.Contains(got.Blocked, "no") {
		t.Errorf("%+v, %v", got, err)
	}
	r = runner(t, Project{}, guard, late)
	if got, err := r.Run(t.Context(), bash(t, `{"command":"pwd"}`)); err != nil || got.Blocked == "" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(r.opt.Dir, "late")); err == nil {
		t.Error("a hook ran after a block")
	}
}

func TestTimeAndCancel(t *testing.T) {
	h := before("sleep 1000")
	h.Timeout = 50 * time.Millisecond
	r := runner(t, Project{}, h, before("sleep 1000"))
	ctx, cancel := context.WithCancel(t.Context())
	pipe := filepath.Join(r.opt.Dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	r.hooks[1].Command = "echo ran > pipe; sleep 1000"
	done := make(chan error, 1)
	var got Outcome
	go func() {
		var err error
		got, err = r.Run(ctx, bash(t, `{}`))
		done <- err
	}()
	if text := scratch.Read(t, pipe); text != "ran\n" {
		t.Errorf("%q", text)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) || len(got.Notices) != 1 || !strings.Contains(got.Notices[0], "it was ended after 50ms") {
		t.Errorf("%+v, %v", got, err)
	}
}

// The input has the fields of the format; the environment is the given one.
func TestInput(t *testing.T) {
	r := runner(t, Project{}, before(`cat > input; env > environment`))
	e := OfTool(PreToolUse, "edit_file", "c1")
	if err := e.SetInput(json.RawMessage(`{"path":"a.txt","old_string":"<"}`), "/p/a.txt"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(scratch.Read(t, filepath.Join(r.opt.Dir, "input"))), &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]any{
		"session_id": "s1", "transcript_path": "/s1.jsonl", "cwd": r.opt.Dir, "permission_mode": "acceptEdits", "hook_event_name": "PreToolUse",
		"tool_name": "Edit", "agent_tool": "edit_file", "tool_use_id": "c1",
		"tool_input": map[string]any{"path": "a.txt", "file_path": "/p/a.txt", "old_string": "<"},
	}, got); d != "" {
		t.Error(d)
	}
	for line := range strings.Lines(scratch.Read(t, filepath.Join(r.opt.Dir, "environment"))) {
		key, _, _ := strings.Cut(line, "=")
		switch key {
		case "PATH", "PWD", "SHLVL", "OLDPWD", "_", "CLAUDE_PROJECT_DIR", "AGENT_PROJECT_DIR":
		default:
			if !strings.HasPrefix(key, "AGENT_") {
				t.Errorf("the environment has %s", line)
			}
		}
	}
}

func TestMatchers(t *testing.T) {
	for _, c := range []struct {
		tool, matcher string
		want          bool
	}{
		{"edit_file", "", true},
		{"edit_file", "Edit", true},
		{"edit_file", "edit_file", true},
		{"edit_file", "Edit|Write", true},
		{"edit_file", "Read", false},
		{"edit_file", "Edi", false},
		{"edit_file", "dit", false},
		{"edit_file", ".*", true},
		{"patch", "Write", true},
		{"append_file", "MultiEdit", true},
		{"write_file", "Write", true},
		{"write_file", "Edit", true},
		{"write_file", "MultiEdit", true},
		{"append_file", "Write", true},
		{"apply_patch", "Edit", true},
		{"edit_file", "NotebookEdit", true}, // until the file is known
		{"task", "Agent", true},
		{"task", "Task", true},
		{"web_fetch", "WebFetch", true},
		{"web_fetch", "web_fetch", true},
		{"ask_user", "AskUserQuestion", true},
		{"present_plan", "ExitPlanMode", true},
		{"todo", "TodoWrite", true},
		{"execute_command", "Bash(git push:*)", false},
		{"mcp__memory__add", "mcp__memory__*", true},
		{"mcp__memory__add", "mcp__other__*|mcp__memory__*", true},
		{"execute_command", "Bash", true},
		{"read_file", "Read", true},
		{"search_files", "Grep", true},
		{"find_files", "Glob", true},
		{"list_files", "LS", true},
		{"mcp__memory__add", "mcp__memory__.*", true},
		{"mcp__x__add", "mcp__memory__.*", false},
	} {
		h := before("true")
		h.Matcher = c.matcher
		if got := New(Options{User: []config.Hook{h}}).Has(OfTool(PreToolUse, c.tool, "")); got != c.want {
			t.Errorf("%s for %s: %v", c.matcher, c.tool, got)
		}
	}
	for _, event := range []string{UserPromptSubmit, Stop} { // whose matchers have no meaning
		if r := New(Options{User: []config.Hook{{Event: event, Matcher: "Bash"}}}); !r.Has(Event{Name: event}) {
			t.Errorf("a hook of %s does not run", event)
		}
	}
	start := config.Hook{Event: SessionStart, Matcher: "resume|clear"}
	if r := New(Options{User: []config.Hook{start}}); r.Has(Event{Name: SessionStart, Source: "startup"}) || !r.Has(Event{Name: SessionStart, Source: "clear"}) {
		t.Error("the matcher of a start")
	}
	if r := New(Options{}); r.Has(Event{Name: Stop}) || r != nil {
		t.Error("hooks without any")
	}
}

// TestNotebook: only an edit of a notebook has that name, and either key of its path is ours.
func TestNotebook(t *testing.T) {
	h := before("true")
	h.Matcher = "NotebookEdit"
	for file, want := range map[string]bool{"/p/a.ipynb": true, "/p/A.IPYNB": true, "/p/a.py": false, "": false} {
		e := OfTool(PreToolUse, "edit_file", "")
		if err := e.SetInput(json.RawMessage(`{"path":"a"}`), file); err != nil {
			t.Fatal(err)
		}
		if got := New(Options{User: []config.Hook{h}}).Has(e); got != want || strings.Contains(string(e.Input), "notebook_path") != want {
			t.Errorf("%q: %v, %s", file, got, e.Input)
		}
		if got, err := e.Args(json.RawMessage(`{"path":"a"}`), e.Input); string(got) != `{"path":"a"}` || err != nil {
			t.Errorf("%q: %s, %v", file, got, err)
		}
	}
}

// TestUnmatched: a matcher of no tool is named.
func TestUnmatched(t *testing.T) {
	for matcher, want := range map[string]int{
		"": 0, "*": 0, ".*": 0, "Bash": 0, "Edit|Write|NotebookEdit": 0, "edit_.*": 0, "mcp__x__y": 0, "mcp__x__*": 0, "(Agent|Task)": 0,
		"bash": 1, "WebSearch": 1, "Edit|Wirte|Foo": 2, "Bash(git push:*)": 1, "Edit, Write": 1, "^Edi": 1,
	} {
		for _, event := range []string{PreToolUse, PostToolUse} {
			h := config.Hook{Event: event, Matcher: matcher, Command: "x", Source: "f"}
			if got := Unmatched([]config.Hook{h}); len(got) != want {
				t.Errorf("%q: %q", matcher, got)
			}
		}
	}
	for _, h := range []config.Hook{{Event: Stop, Matcher: "x"}, {Event: SessionStart, Matcher: "startup|resume"}} {
		if got := Unmatched([]config.Hook{h}); len(got) > 0 {
			t.Errorf("%q", got)
		}
	}
}

// A hook's keys may have either name; the key that it changed counts.
func TestArgs(t *testing.T) {
	const was = `{"path":"a.txt","content":"x"}`
	for changed, want := range map[string]string{
		`{"path":"a.txt","content":"y","file_path":"/p/a.txt"}`: `{"content":"y","path":"a.txt"}`,
		`{"content":"y","file_path":"/p/a.txt"}`:                `{"content":"y","path":"a.txt"}`,
		`{"content":"y","file_path":"/p/b.txt"}`:                `{"content":"y","path":"/p/b.txt"}`,
		`{"path":"a.txt","content":"y","file_path":"/p/b.txt"}`: `{"content":"y","path":"/p/b.txt"}`,
		`{"path":"b.txt","content":"y","file_path":"/p/a.txt"}`: `{"content":"y","path":"b.txt"}`,
		`{"content":"y","path":"b.txt"}`:                        `{"content":"y","path":"b.txt"}`,
	} {
		e := OfTool(PreToolUse, "write_file", "")
		if err := e.SetInput(json.RawMessage(was), "/p/a.txt"); err != nil {
			t.Fatal(err)
		}
		if got, err := e.Args(json.RawMessage(was), json.RawMessage(changed)); string(got) != want || err != nil {
			t.Errorf("%s: %s, %v", changed, got, err)
		}
	}
	e := OfTool(PreToolUse, "write_file", "")
	if _, err := e.Args(json.RawMessage(was), json.RawMessage(`[]`)); err == nil {
		t.Error("a list is no input")
	}
}

// The hash changes with each hook and each program that the hooks name, and with nothing
// else.
func TestProject(t *testing.T) {
	scratch.SetHome(t, t.TempDir())
	hooks := func(command string) string {
		return fmt.Sprintf(`{"model":"x","hooks":{"Stop":[{"hooks":[{"type":"command","command":%q}]}]}}`, command)
	}
	const command = `sh "$CLAUDE_PROJECT_DIR"/a.sh; ./tool; b.py <data; ${CLAUDE_PROJECT_DIR}/sub/c.sh > out`
	dir := scratch.Dir(t, map[string]string{
		".claude/settings.json": hooks(command), "a.sh": "1", "b.py": "2", "data": "3", "out": "4", "sub/c.sh": "5", "other.sh": "6",
	})
	scratch.Program(t, filepath.Join(dir, "tool"), "#!/bin/sh\n")
	look := func() Project {
		p, notes := OfProject(dir, t.TempDir())
		if len(notes) > 0 {
			t.Error(notes)
		}
		return p
	}
	p := look()
	if d := cmp.Diff([]string{"a.sh", "b.py", "sub/c.sh", "tool"}, slices.Sorted(slices.Values(p.Scripts))); d != "" || p.Name != ".claude/settings.json" {
		t.Error(p.Name, d)
	}
	scratch.Write(t, filepath.Join(dir, "data"), "x")
	scratch.Write(t, filepath.Join(dir, "other.sh"), "x")
	scratch.Write(t, filepath.Join(dir, ".claude/settings.json"), strings.Replace(hooks(command), `"x"`, `"y"`, 1))
	if look().Hash != p.Hash || p.changed() {
		t.Error("another file changed the hash")
	}
	for _, name := range []string{"a.sh", "tool", "b.py", "sub/c.sh"} {
		scratch.Write(t, filepath.Join(dir, name), "changed")
		now := look()
		if now.Hash == p.Hash || !p.changed() {
			t.Errorf("%s does not change the hash", name)
		}
		p = now
	}
	if err := os.Remove(filepath.Join(dir, "b.py")); err != nil {
		t.Fatal(err)
	}
	p = look()
	scratch.Write(t, filepath.Join(dir, "b.py"), "2")
	if !p.changed() || look().Hash == p.Hash {
		t.Error("a program that was missing does not change the hash")
	}
	scratch.Mkdir(t, filepath.Join(dir, ".agent"))
	scratch.Write(t, filepath.Join(dir, ".agent/hooks.json"), hooks("true"))
	if got := look(); got.Name != ".agent/hooks.json" || got.Hash == p.Hash {
		t.Errorf("%+v", got)
	}
	if got, _ := OfProject(dir, filepath.Join(dir, ".agent")); got.Name != ".claude/settings.json" {
		t.Errorf("the user's own folder is a project's: %+v", got)
	}
}

// Programs are found whatever their names, in quotes, behind cd, and in a project with a blank in
// its path.
func TestProgramsOfHooks(t *testing.T) {
	scratch.SetHome(t, t.TempDir())
	dir := filepath.Join(t.TempDir(), "my project")
	for command, want := range map[string]string{
		`python3 "$CLAUDE_PROJECT_DIR/my hooks/guard.py"`:   "my hooks/guard.py",
		`python3 "$CLAUDE_PROJECT_DIR"/'my hooks'/guard.py`: "my hooks/guard.py",
		`python3 my\ hooks/guard.py`:                        "my hooks/guard.py",
		`cd hooks2 && ./guard.sh`:                           "hooks2/guard.sh",
		`cd "$CLAUDE_PROJECT_DIR"/a && cd b && ./guard.sh`:  "a/b/guard.sh",
		`java -jar guard.jar > "log" 2>>log <log`:           "guard.jar",
		`sh <"in put.sh" >>log`:                             "in put.sh",
		`bash <(./make "x")`:                                "make",
		`sh -c "cd a; deno run b.tsx >log"`:                 "a/b.tsx",
		`"` + dir + `/tool" x`:                              "tool",
		`python3 -u tool log`:                               "tool",
		`touch log; ./tool | tee log`:                       "tool",
	} {
		for _, name := range []string{want, "log"} {
			scratch.Mkdir(t, filepath.Dir(filepath.Join(dir, name)))
			scratch.Write(t, filepath.Join(dir, name), "1")
		}
		p := Project{Dir: dir, Hooks: []config.Hook{{Command: command}}}
		p.Scripts, p.Whole, p.Hash = p.look()
		if d := cmp.Diff([]string{want}, p.Scripts); d != "" {
			t.Errorf("%s: %s", command, d)
		}
		scratch.Write(t, filepath.Join(dir, "log"), "2")
		if p.changed() && len(p.Whole) == 0 {
			t.Errorf("%s: what it writes changes the hash", command)
		}
		scratch.Write(t, filepath.Join(dir, want), "2")
		if !p.changed() {
			t.Errorf("%s: the change is not noticed", command)
		}
	}
}

// A hook whose program is not the approved one blocks the call that it would guard, and
// does not run.
func TestChangedScript(t *testing.T) {
	scratch.SetHome(t, t.TempDir())
	dir := scratch.Dir(t, map[string]string{".agent/hooks.json": `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"sh a.sh"}]}],"Stop":[{"hooks":[{"type":"command","command":"sh a.sh"}]}]}}`, "a.sh": "exit 0"})
	p, _ := OfProject(dir, t.TempDir())
	r := runner(t, p)
	if got, err := r.Run(t.Context(), bash(t, "{}")); err != nil || got.Blocked != "" || len(got.Notices) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
	scratch.Write(t, filepath.Join(dir, "a.sh"), "touch ran")
	if got, err := r.Run(t.Context(), bash(t, "{}")); err != nil || !strings.Contains(got.Blocked, "it was not run, because a.sh has changed") {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := r.Run(t.Context(), Event{Name: Stop}); err != nil || got.Blocked != "" || len(got.Notices) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("it ran")
	}
}
