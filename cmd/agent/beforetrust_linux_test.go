package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// terminals are environments whose terminals programs inspect in different ways.
var terminals = map[string][]string{
	"plain":   {"TERM=xterm-256color", "COLORTERM="},
	"tmux":    {"TERM=tmux-256color", "TMUX=/tmp/tmux-0/default,1,0", "TERM_PROGRAM=tmux", "COLORTERM="},
	"screen":  {"TERM=screen", "STY=1.pts-0.host", "COLORTERM="},
	"VS Code": {"TERM=xterm-256color", "TERM_PROGRAM=vscode", "VSCODE_INJECTION=1", "VSCODE_GIT_IPC_HANDLE=/tmp/git.sock", "COLORTERM="},
}

// starting is one way to start the program.
type starting struct {
	args string
	wait string   // for this on the screen, if the program asks; Esc exits then
	may  []string // allowed connections: model, editor
	env  string
}

var starts = []starting{
	{args: "--version"},
	{args: "--help"},
	{args: "completion bash"},
	{args: "completion zsh"},
	{args: "__complete --resume="},
	{args: "__complete sess"},
	{args: "config path"},
	{args: "config show"},
	{args: "config set max_turns 5"},
	{args: "trust list"},
	{args: "trust add", wait: "Trust this folder"},
	{args: "trust rm"},
	{args: "permissions explain ls"},
	{args: "permissions test --all"},
	{args: "sessions list"},
	{args: "sessions show none"},
	{args: "undo"},
	{args: "redo"},
	{args: "ide status", may: []string{"editor"}},
	{args: "ide doctor", may: []string{"editor"}},
	{args: "doctor", may: []string{"editor", "model"}},
	{args: "-p hi", may: []string{"model"}},
	{args: "-p hi", env: "AGENT_BASE_URL=http://127.0.0.1:9/v1"},
	{args: "-p hi", env: "AGENT_MODEL=nowhere/m"},
	{args: "mistyped arguments"},
	{args: "", wait: "Trust the files of this project"},
	{args: "hello", wait: "Trust the files of this project"},
	{args: "-c", wait: "Trust the files of this project"},
	{args: "--ide", wait: "Trust the files of this project"},
	{args: "", wait: "Trust the files of this project", env: "AGENT_MODEL=ollama/x"},
	{args: "", wait: "Trust the files of this project", env: "HTTPS_PROXY=http://127.0.0.1:9"},
	{args: "", wait: "Trust the files of this project", env: "AGENT_INTERFACE_SCREEN_READER=true"},
}

// Before a person trusts the folder, the program starts no program and opens no
// connection on any terminal, except those that a command is asked to check.
func TestNothingRunsBeforeTrust(t *testing.T) {
	t.Parallel()
	strace := straces(t)
	for name, env := range terminals {
		t.Run(name, func(t *testing.T) {
			d, ports := untrusted(t)
			d.env = append(d.env, env...)
			for _, s := range starts {
				if often := s.wait != "" || strings.HasPrefix(s.args, "-"); often || name == "plain" || name == "tmux" || os.Getenv("AGENT_TEST_FULL") != "" {
					d.traced(strace, s, ports)
				}
			}
		})
	}
}

// untrusted returns a desk in a folder with agent settings and programs of its own,
// with an editor and a configured model; ports holds their ports.
func untrusted(t *testing.T) (d *desk, ports map[string]string) {
	t.Helper()
	server := answers(t, slices.Repeat([]string{"Hello."}, 8)...)
	d = newDesk(t, server, nil)
	bin := d.path("node_modules/.bin")
	for _, dir := range []string{bin, d.path(".agent/commands"), d.path(".git")} {
		scratch.Mkdir(t, dir)
	}
	d.write(".agent/config.yaml", "encoding: big5\n")
	d.write(".agent/commands/hello.md", "Say hello.")
	for _, dir := range []string{".claude", ".agent/skills/hi"} {
		scratch.Mkdir(t, d.path(dir))
	}
	d.write(".agent/hooks.json", (&hostile{t: t, evil: d.path("node_modules/.bin/git")}).hooks())
	d.write(".agent/skills/hi/SKILL.md", "---\nname: hi\ndescription: Says hi.\n---\n")
	for _, program := range []string{"tmux", "git", "rg", "dbus-launch", "code", "xclip", "wl-paste", "infocmp", "tput", "sh", "bash"} {
		scratch.Program(t, filepath.Join(bin, program), "#!/bin/sh\nexit 1\n")
	}
	editor, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = editor.Close() })
	_, port, _ := net.SplitHostPort(editor.Addr().String())
	lock, err := json.Marshal(map[string]any{
		"pid": os.Getpid(), "workspaceFolders": []string{d.dir}, "ideName": "Editor", "transport": "ws", "authToken": strings.Repeat("t", 32),
	})
	if err != nil {
		t.Fatal(err)
	}
	d.keep("ide/"+port+".lock", string(lock))
	d.keep("config.yaml", "model: corp/m\nproviders:\n  corp: {base_url: "+server.URL()+", api_key_env: CORP_KEY}\n")
	d.env = append(d.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "AGENT_MODEL=", "OPENAI_BASE_URL=", "CORP_KEY="+canary)
	_, model, _ := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(server.URL(), "http://"), "/v1"))
	return d, map[string]string{"editor": port, "model": model}
}

var (
	connecting = regexp.MustCompile(`connect\(\d+, \{(.*?)\}`)
	toPort     = regexp.MustCompile(`sin6?_port=htons\((\d+)\)`)
)

// traced starts the program and checks each program it starts and each connection it
// opens.
func (d *desk) traced(strace string, s starting, ports map[string]string) {
	d.t.Helper()
	agent, err := exec.LookPath("agent")
	if err != nil {
		d.t.Fatal(err)
	}
	file := filepath.Join(d.t.TempDir(), "trace")
	d.Terminal = ptytest.New(d.t, vt.Options{Width: 100, Height: 40})
	cmd := exec.Command(strace, append([]string{
		"-f", "-qq", "-o", file, "-e", "trace=execve,execveat,connect", "-e", "signal=none", "--", agent,
	}, strings.Fields(s.args)...)...)
	cmd.Dir, cmd.Env = d.dir, slices.Concat(d.env, []string{s.env})
	d.Start(cmd)
	if s.wait != "" {
		d.WaitFor(s.wait)
		if strings.Contains(s.env, "SCREEN_READER") {
			d.WaitFor(`or nothing to exit`)
			d.Press("enter")
		} else {
			d.WaitFor(`Esc exits`)
			d.Press("esc")
		}
	}
	d.Wait()
	text, err := os.ReadFile(file)
	if err != nil {
		d.t.Fatal(err)
	}
	var bad []string
	own := 0
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.Contains(line, "execve"):
			own++
			if own > 1 {
				bad = append(bad, line)
			}
		case strings.Contains(line, "connect("):
			if !mayConnect(line, s.may, ports) {
				bad = append(bad, line)
			}
		}
	}
	what := fmt.Sprintf("agent %s %s", s.args, s.env)
	if own == 0 {
		d.t.Errorf("%s: nothing was traced", what)
	}
	if len(bad) > 0 {
		d.t.Errorf("%s:\n%s", what, strings.Join(bad, ""))
	}
}

// mayConnect reports whether a line of the trace opens a connection to one of may.
func mayConnect(line string, may []string, ports map[string]string) bool {
	to := connecting.FindStringSubmatch(line)
	if to == nil {
		return false
	}
	port := toPort.FindStringSubmatch(to[1])
	return port != nil && slices.ContainsFunc(may, func(name string) bool { return ports[name] == port[1] })
}
