package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/chatgpt/chatgpttest"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// The search finds a key in the environment of a child.
func TestCanaryIsFoundInAChild(t *testing.T) {
	t.Parallel()
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
		if got := carriers(string(text), canary); len(got) != want {
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
	text, err := os.ReadFile(d.traces[0])
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

// The search finds a key that is sent to an editor, which masks it, and to a server that
// is not known as the model's.
func TestCanaryIsFoundInARequest(t *testing.T) {
	straces(t)
	t.Setenv("AGENT_TEST_CANARY", "1")
	d := newDesk(t, llmtest.NewServer(t, editCall("hello", canary), llmtest.Turn{Text: "All done."}), map[string]string{"main.go": program})
	e := d.editor(idetest.Ours())
	d.sit()
	d.say("be polite")
	e.NextDiff()
	d.asked(canary)
	d.Press("y")
	d.WaitFor(`All done`)
	d.idle()
	d.leave()
	trace := scratch.Read(t, d.traces[0])
	port := strconv.Itoa(e.Port())
	if !e.Received(canary) {
		t.Error("the editor has not noticed the key")
	}
	if found := foreigners(trace, d.models, canary); len(found) == 0 || !strings.Contains(strings.Join(found, ""), "->127.0.0.1:"+port+"]") {
		t.Errorf("sent to the editor: %q", found)
	}
	if found := foreigners(trace, []string{"127.0.0.1:" + port}, canary); len(found) < 2 || !strings.Contains(found[0], "POST /v1/chat/completions") {
		t.Errorf("sent to the model's server: %q", found)
	}
	for line, want := range map[string]int{
		`7 connect(3<TCP:[1]>, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("192.0.2.1")}, 16) = 0`:                                                     1,
		`7 connect(3<TCPv6:[1]>, {sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::1", &sin6_addr), sin6_scope_id=0}, 28) = 0`: 0,
		`7 write(3<TCPv6:[[::1]:1->[::1]:2]>, "\1` + canary + `", 15) = 15`:                                                                                            1,
	} {
		if got := foreigners(line, nil, canary); len(got) != want {
			t.Errorf("%s: %q", line, got)
		}
	}
	for _, path := range leaks(t, d.home, d.dir, d.tmp) {
		d.keyed = append(d.keyed, filepath.Base(path))
	}
	d.editors, d.traces = nil, nil // they have shown that they find it
}

// The tokens of a sign-in are in no file but the one of keys, no log, no child, no editor, and in no
// request but those to the issuer and its API: not of the model's commands, a hook, an MCP server, a
// sub-agent and a side question. The search would find them.
func TestSignInIsInNoChild(t *testing.T) {
	straces(t)
	t.Setenv("AGENT_TEST_CANARY", "1")
	o := new(chatgpttest.Issuer)
	d := signingDesk(t, o,
		callOf("execute_command", `{"command":"env; ls; cat /proc/self/environ"}`), callOf("task", `{"description":"look","prompt":"look at a.txt"}`),
		callOf("read_file", `{"path":"a.txt"}`), llmtest.Turn{Text: "It says one."}, callOf("mcp__my__echo", `{"text":"x"}`), llmtest.Turn{Text: "Done."},
		llmtest.Turn{Text: "An aside."}, llmtest.Turn{Text: "Again."})
	settings := filepath.Join(d.home, "config.yaml")
	scratch.Write(t, settings, scratch.Read(t, settings)+"hooks: {Stop: [{hooks: [{type: command, command: env}]}]}\nmcp: {my: {command: ["+os.Args[0]+", mcp-server]}}\n")
	for _, args := range [][]string{
		{"login"}, {"-p", "x", "--permission-mode", "bypass", "--output-format", "stream-json"}, {"-c", "-p", "/btw why?"}, {"doctor"}, {"-c", "-p", "again"}, {"logout"},
	} {
		said, err := d.logIn("", args...)
		if err != nil && args[0] != "doctor" {
			t.Fatalf("%q: %v: %s", args, err, said)
		}
		d.leaks(o, said)
		if args[0] == "-c" {
			o.Expire() // the next one renews its token
		}
	}
	children, sent := 0, 0
	for _, file := range d.traces {
		trace := scratch.Read(t, file)
		children += strings.Count(trace, "execve(") - 1
		sent += len(foreigners(trace, nil, o.Secrets()...))
	}
	if n := len(o.Bodies()); children < 4 || sent < 8 || n < 8 || len(o.Secrets()) < 6 {
		t.Errorf("%d children, %d texts with a token, %d requests, %d secrets", children, sent, n, len(o.Secrets()))
	}
	t.Log(children, "children,", sent, "texts with a token to the issuer,", len(o.Secrets()), "secrets")
}

// TestAKeyOfAnyNameIsInNoChild: a key in a variable that only the settings name reaches none of the
// programs that a person starts through this one: those of the clipboard, of the prompt's editor,
// and of VS Code.
func TestAKeyOfAnyNameIsInNoChild(t *testing.T) {
	t.Parallel()
	const key = "corp-canary-5b1e"
	d := newDesk(t, answers(t, "Copy me."), nil)
	d.keep("config.yaml", "env_keep: CORP_*\nproviders: {corp: {base_url: http://127.0.0.1:1, api_key_env: CORP_SECRET}}\n")
	bin, seen := t.TempDir(), t.TempDir()
	for name, rest := range map[string]string{"wl-copy": "cat >/dev/null", "editor": `echo edited >"$1"`, "code": ""} {
		scratch.Program(t, filepath.Join(bin, name), "#!/bin/sh\nenv >>"+filepath.Join(seen, name)+"\n"+rest+"\n")
	}
	d.env = append(d.env, "PATH="+bin+":"+os.Getenv("PATH"), "CORP_SECRET="+key, "VISUAL=editor", "WAYLAND_DISPLAY=wayland-0")
	d.sit()
	d.say("go")
	d.WaitFor(`Copy me\.`)
	d.idle()
	d.say("/copy")
	d.WaitFor(`Copied .* with wl-copy`)
	d.Press("ctrl+g")
	d.prompt("❯ edited")
	d.Press("ctrl+u")
	d.leave()
	for _, args := range [][]string{{"ide", "install"}, {"ide", "doctor"}} {
		if out, err := d.program(args...).CombinedOutput(); err != nil && args[1] == "install" {
			t.Errorf("%v: %s", err, out)
		}
	}
	for _, name := range []string{"wl-copy", "editor", "code"} {
		if env := scratch.Read(t, filepath.Join(seen, name)); !strings.Contains(env, "HOME=") || strings.Contains(env, key) {
			t.Errorf("%s got the environment %s", name, env)
		}
	}
}
