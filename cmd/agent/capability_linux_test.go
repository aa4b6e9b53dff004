package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/ide/wire"
)

var _ = addProgram("takeover", takeOver)

// takeOver tries to become an agent of the editor whose lock folder is the first
// argument: it collects everything that may hold a secret, in several ways, and has the
// editor run a command with each word of it.
func takeOver() {
	folder, port := os.Args[1], os.Args[2]
	fmt.Println("the attack begins")
	tried := map[string]bool{}
	for _, way := range ways {
		for _, word := range regexp.MustCompile(`[!-~]{32,500}`).FindAllString(strings.ReplaceAll(way.read(folder), `"`, " "), -1) {
			if !tried[word] && runsCommands("127.0.0.1:"+port, word) {
				fmt.Println("ESCAPED by", way.name)
			}
			tried[word] = true
		}
	}
	fmt.Println("the attack ends")
	os.Exit(0)
}

// runsCommands reports whether the editor runs a command for a client with this secret.
func runsCommands(address, secret string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := wire.Dial(ctx, wire.Options{Address: address, Secret: secret, Check: func(net.Conn) error { return nil }})
	if err != nil {
		return false
	}
	defer c.Close()
	_, err = c.Call(ctx, "runInTerminal", map[string]any{"command": "touch escaped", "cwd": "/"})
	return err == nil
}

type way struct {
	name string
	read func(folder string) string
}

// ways collect the texts that may hold an editor's secret.
var ways = []way{
	{"reading", func(folder string) string { return eachFile(folder, func(path string) string { return path }) }},
	{"the root of a process", func(folder string) string {
		return eachFile(folder, func(path string) string { return "/proc/self/root" + path })
	}},
	{"a symbolic link", func(folder string) string {
		return eachFile(folder, func(path string) string {
			_ = os.Symlink(path, "soft-"+filepath.Base(path))
			return "soft-" + filepath.Base(path)
		})
	}},
	{"a hard link", func(folder string) string {
		return eachFile(folder, func(path string) string {
			_ = os.Link(path, "hard-"+filepath.Base(path))
			return "hard-" + filepath.Base(path)
		})
	}},
	{"cat", outputOf("cat FOLDER/*")},
	{"tar", outputOf("tar -cf - FOLDER 2>/dev/null")},
	{"grep", outputOf("grep -r . FOLDER/..")},
	{"python", outputOf("python3 -c 'import glob; [print(open(f).read()) for f in glob.glob(\"FOLDER/*.lock\")]'")},
	{"a mount", outputOf("unshare -m sh -c 'mount --bind FOLDER . && cat *'")},
	{"the parent's environment", outputOf("cat /proc/*/environ | tr '\\0' '\\n' | grep -v AGENT_")},
	{"the socket", eachSocket},
	{"the socket, by python", func(folder string) string {
		return outputOf("python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"" + socketIn(folder) + "\"); print(s.recv(1000).decode())'")(folder)
	}},
	{"the socket, by curl", func(folder string) string {
		return outputOf("curl -s --http0.9 --max-time 5 --unix-socket " + socketIn(folder) + " http://localhost/")(folder)
	}},
	{"the socket, by a pair", func(folder string) string {
		pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			return ""
		}
		_ = syscall.SetNonblock(pair[0], true)
		if syscall.Connect(pair[0], &syscall.SockaddrUnix{Name: socketIn(folder)}) != nil {
			return ""
		}
		text := make([]byte, 1000)
		n, _ := syscall.Read(pair[0], text)
		return string(text[:max(n, 0)])
	}},
	{"moving", func(folder string) string {
		return eachFile(folder, func(path string) string {
			_ = os.Rename(path, "moved-"+filepath.Base(path))
			return "moved-" + filepath.Base(path)
		})
	}},
}

// eachFile reads all files of a folder by the paths that as makes.
func eachFile(folder string, as func(path string) string) string {
	var all strings.Builder
	_ = filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			text, _ := os.ReadFile(as(path))
			all.Write(append(text, '\n'))
		}
		return nil
	})
	return all.String()
}

// outputOf returns a way that runs a line of the shell.
func outputOf(line string) func(string) string {
	return func(folder string) string {
		out, _ := exec.Command("sh", "-c", strings.ReplaceAll(line, "FOLDER", folder)).Output()
		return string(out)
	}
}

// socketIn returns the socket that a lock names, or the one that the name of the folder gives.
func socketIn(folder string) string {
	if found := regexp.MustCompile(`"secretSocket":"([^"]+)"`).FindStringSubmatch(eachFile(folder, func(path string) string { return path })); found != nil {
		return found[1]
	}
	return os.Args[3]
}

func eachSocket(folder string) string {
	conn, err := net.Dial("unix", socketIn(folder))
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close() }()
	text, _ := io.ReadAll(conn)
	return string(text)
}

// A command in the sandbox, with the network, cannot become an agent of an editor that
// hides its secret, wherever the agent's own folder is; without the sandbox it can.
func TestSandboxedCommandCannotUseTheEditor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode            string
		hidden, exposed bool // the secret; the agent's own folder
		escapes         bool
	}{
		"no sandbox":                     {mode: "off", hidden: true, escapes: true},
		"no sandbox, secret in the lock": {mode: "off", escapes: true},
		"sandbox":                        {mode: "required", hidden: true},
		"sandbox, secret in the lock":    {mode: "required"},
		"folder that commands may write": {mode: "required", hidden: true, exposed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBoxed(t, c.mode)
			if c.exposed {
				b.rest = "AGENT_HOME=" + filepath.Join(b.dir, ".agent")
			}
			e := idetest.Start(t, idetest.Ours())
			socket := "none"
			if c.hidden {
				socket = e.HideSecret()
			}
			e.Handle("runInTerminal", func(*idetest.Conn, json.RawMessage) idetest.Reply {
				return idetest.JSON(map[string]any{"exit_code": 0})
			})
			home := filepath.Join(b.home, ".agent")
			if c.exposed {
				home = filepath.Join(b.dir, ".agent")
			}
			folder := filepath.Join(home, "ide")
			e.WriteLock(folder, b.dir)
			out := b.run(fmt.Sprintf("takeover %s %d %s", folder, e.Port(), socket))
			if !strings.Contains(out, "the attack begins") || !strings.Contains(out, "the attack ends") {
				t.Fatalf("there was no attack: %s", out)
			}
			runs := len(e.Requests("runInTerminal"))
			if escaped := strings.Contains(out, "ESCAPED"); escaped != c.escapes || (runs > 0) != c.escapes {
				t.Errorf("escaped: %v, the editor ran %d commands: %s", escaped, runs, out)
			}
		})
	}
	t.Logf("load: %d ways", len(ways))
}

// A command in the sandbox reads no keys, sessions and tokens in the agent's own folder, but
// the files there that are for commands.
func TestSandboxHidesTheAgentsFolder(t *testing.T) {
	t.Parallel()
	b := newBoxed(t, "required")
	private := []string{"credentials.json", "history", "sessions/x/y.jsonl", "undo/x/1", "audit.jsonl", "ide/1.mcp.json", "ide/bridge.json", "trust.json", "spill/other/f"}
	public := []string{"skills/s/run.sh", "commands/c.md", "agents/a.md", "AGENTS.md"}
	for _, name := range append(private, public...) {
		scratch.Write(t, filepath.Join(b.home, ".agent", name), "text of "+name+"\n")
	}
	scratch.Write(t, filepath.Join(b.home, ".claude/ide/1.lock"), "text of a lock\n")
	out := b.run("cd " + b.home + "; cat .claude/ide/1.lock; cd .agent; for f in " + strings.Join(append(private, public...), " ") + "; do cat $f; done; seq 100000")
	for _, name := range append(private, "a lock") {
		if strings.Contains(out, "text of "+name) {
			t.Errorf("%s was read", name)
		}
	}
	for _, name := range public {
		if !strings.Contains(out, "text of "+name) {
			t.Errorf("%s could not be read", name)
		}
	}
	spill := regexp.MustCompile(`[^ "]+/spill/[^ "\\]+`).FindString(out)
	if got := b.run("cat " + spill + " | sed -n 500p"); spill == "" || !strings.Contains(got, "Permission denied") {
		t.Errorf("the output of another session, %q: %s", spill, got)
	}
	if got := b.run("cat " + filepath.Join(b.home, ".agent/credentials.json")); !strings.Contains(got, "Permission denied") {
		t.Error(got)
	}
}
