package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/bypass"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
)

// effects are the system calls that run a program, open a connection or change files.
const effects = "execve,execveat,connect,sendto,bind,open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,truncate,chmod,fchmodat,chown,lchown,fchownat,link,linkat,symlink,symlinkat,utimensat,mknod,mknodat,setxattr,lsetxattr"

var (
	forWriting = regexp.MustCompile(`O_WRONLY|O_RDWR|O_CREAT|O_TRUNC`)
	opening    = regexp.MustCompile(`\b(?:open|openat|openat2)\(`)
	anyPath    = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|<(/[^>]*)>`)
)

// watch is a program that runs under strace on a terminal of its own.
type watch struct {
	*desk
	name, trace string
}

// watched starts a program in a folder under strace.
func (d *desk) watched(name, strace string, command ...string) *watch {
	d.t.Helper()
	w := &watch{desk: d, name: name, trace: filepath.Join(d.t.TempDir(), "trace")}
	d.Terminal = ptytest.New(d.t, vt.Options{Width: 100, Height: 40})
	cmd := exec.Command(strace, append([]string{"-f", "-qq", "-y", "-s", "4096", "-o", w.trace, "-e", "trace=" + effects, "-e", "signal=none", "--"}, command...)...)
	cmd.Dir, cmd.Env = d.dir, d.env
	d.Start(cmd)
	return w
}

// did returns the program's effects: the programs it started besides itself, connections
// except to the allowed ports, and changes of files outside its home.
func (w *watch) did(ports ...string) []string {
	w.t.Helper()
	text, err := os.ReadFile(w.trace)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	own := 0
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.Contains(line, "execve"):
			if own++; own > 1 {
				out = append(out, line)
			}
		case strings.Contains(line, "connect("), strings.Contains(line, "sendto("), strings.Contains(line, "bind("):
			port := toPort.FindStringSubmatch(line)
			allowed := port != nil && slices.Contains(ports, port[1])
			if !allowed && strings.Contains(line, "sa_family") && !strings.Contains(line, "AF_NETLINK") { // the kernel itself
				out = append(out, line)
			}
		case w.changes(line):
			out = append(out, line)
		}
	}
	if own == 0 {
		w.t.Errorf("%s: nothing was traced", w.name)
	}
	return out
}

// changes reports whether a traced call changed a file outside the home.
func (w *watch) changes(line string) bool {
	if strings.Contains(line, " ???(") { // strace lost the call to the end of the thread
		return false
	}
	if opening.MatchString(line) && !forWriting.MatchString(line) || strings.Contains(line, "= -1 E") || strings.Contains(line, "resumed>") {
		return false
	}
	path := ""
	for _, m := range anyPath.FindAllStringSubmatch(line, -1) {
		part := m[1] + m[2]
		if !strings.HasPrefix(part, "/") {
			part = path + "/" + part
		}
		path = part
	}
	return !strings.HasPrefix(path, w.home+"/") && path != w.home && !regexp.MustCompile(`^/dev/(null|tty|ptmx|pts/\d+)$`).MatchString(path)
}

// files describes every file below a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) {
			return nil // as intended
		}
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		out[path] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// straces returns the path of strace.
func straces(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal("this test needs strace: bash scripts/test-needs.sh")
	}
	if out, err := exec.Command(path, "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Fatalf("strace may not trace here (%v: %s): allow ptrace", err, out)
	}
	return path
}

// honeypot listens for connections that nobody should open.
func honeypot(t *testing.T) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Error("somebody called the repository's address")
			_ = c.Close()
		}
	}()
	_, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// TestHostileRepositories starts the program in repositories full of traps, on a plain
// terminal, in tmux and in VS Code's terminal, and leaves it: it starts no other program,
// calls nobody but the model's server, and writes nothing outside its own folder.
func TestHostileRepositories(t *testing.T) {
	t.Parallel()
	load, rest, start := 8, time.Duration(0), int(stress.Seed(t)%1000)
	if os.Getenv("AGENT_TEST_FULL") != "" {
		load, rest, start = 200, 5*time.Second, 0
	}
	strace, seen := straces(t), &faultCounts{counts: map[string]int{}}
	t.Run("all", func(t *testing.T) {
		numbers := []int{0, 1, 2, 3} // of these, some ask for trust; of a few others, perhaps none
		for n := start; n < start+load; n++ {
			if n > 3 {
				numbers = append(numbers, n)
			}
		}
		for _, n := range numbers {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				visitHostile(t, strace, n, rest, seen)
			})
		}
	})
	for _, part := range traps {
		for _, f := range part {
			if load >= len(part) && seen.counts[f.name] == 0 {
				t.Errorf("no repository had %s", f.name)
			}
		}
	}
	t.Logf("load: %d repositories from number %d on, each in %d terminals for %v; %d kinds of traps; %d asked for trust, %d went on without it",
		load, start, len(hostileTerminals), rest, len(seen.counts)-2, seen.counts["asked"], seen.counts["refused"])
	for _, must := range []string{"asked", "refused"} {
		if seen.counts[must] == 0 {
			t.Errorf("no repository was %s", must)
		}
	}
}

// hostileTerminals are the terminals in which each repository is visited.
var hostileTerminals = []string{"plain", "tmux", "VS Code"}

// faultCounts counts what happened in parallel tests.
type faultCounts struct {
	mu     sync.Mutex
	counts map[string]int
}

func (f *faultCounts) add(what ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range what {
		f.counts[w]++
	}
}

// visitHostile starts the program in the nth repository, in all terminals at once, and
// leaves after a rest.
func visitHostile(t *testing.T, strace string, n int, rest time.Duration, seen *faultCounts) {
	h, forms := newHostile(t, n, honeypot(t))
	seen.add(forms...)
	before := files(t, filepath.Dir(h.dir))
	agent, err := exec.LookPath("agent")
	if err != nil {
		t.Fatal(err)
	}
	var all []*watch
	var port string
	for _, terminal := range hostileTerminals {
		d := newDesk(t, answers(t), nil)
		port = regexp.MustCompile(`\d+`).FindString(strings.TrimPrefix(d.server.URL(), "http://127.0.0.1:"))
		d.dir = h.dir
		path := h.path("node_modules/.bin") + ":" + h.dir + ":" + os.Getenv("PATH")
		d.env = slices.Concat(d.env, terminals[terminal], []string{"PATH=" + path})
		w := d.watched(terminal, strace, agent)
		w.WaitFor(`(?m)^❯|Esc exits`)
		all = append(all, w)
	}
	if rest > 0 {
		<-time.After(rest) // something may begin late
	}
	for i, w := range all {
		w.quit((n+i)%2 == 0, seen)
		if did := w.did(port); did != nil {
			t.Errorf("%s, with %q:\n%s", w.name, forms, strings.Join(did, ""))
		}
	}
	if d := cmp.Diff(before, files(t, filepath.Dir(h.dir))); d != "" {
		t.Errorf("with %q, files changed:\n%s", forms, d)
	}
}

// quit leaves the program at its question, or goes on without trust and then leaves.
func (w *watch) quit(atOnce bool, seen *faultCounts) {
	w.t.Helper()
	asked := strings.Contains(w.Screen(), "Esc exits")
	if asked {
		seen.add("asked")
	}
	if asked && atOnce {
		w.Type("x") // answers nothing
		w.Press("backspace", "esc")
		w.Wait()
		return
	}
	if asked {
		seen.add("refused")
		w.Press("3")
		w.WaitFor(`(?m)^❯|(?s)MCP server y of.*Esc exits`)
		if screen := w.Screen(); strings.Contains(screen, "MCP server y of") { // the second of .mcp.json
			w.Press("3")
		}
		w.WaitFor(`(?m)^❯`)
	}
	w.Press("ctrl+d")
	w.Wait()
}

// TestPublishedBypasses opens a hostile repository with a helper that looks at it, as
// other agents did, and with the program.
func TestPublishedBypasses(t *testing.T) {
	t.Parallel()
	for attack, helper := range map[string]string{
		"CVE-2025-59041, CVE-2025-65099: git is run at the start, and runs a program of the repository": "/usr/bin/git status",
		"a program of the repository comes first on PATH":                                               "tmux -V",
	} {
		opened := func(command ...string) func(t *testing.T) bool {
			return func(t *testing.T) bool {
				h, _ := newHostile(t, 0, "9")
				d := newDesk(t, answers(t), nil)
				d.dir = h.dir
				d.env = append(d.env, "TMUX=/tmp/tmux-0/default,1,0", "PATH="+h.path("node_modules/.bin")+":"+os.Getenv("PATH"))
				d.Terminal = ptytest.New(t, vt.Options{Width: 100, Height: 40})
				cmd := exec.Command(command[0], command[1:]...)
				cmd.Dir, cmd.Env = d.dir, d.env
				d.Start(cmd)
				if command[0] == "agent" {
					d.WaitFor(`Esc exits`)
					d.Press("esc")
				}
				d.Wait()
				_, err := os.Stat(filepath.Join(filepath.Dir(h.dir), "ran"))
				return err == nil
			}
		}
		bypass.Try(t, attack, "nothing is started before trust", opened("/bin/bash", "-c", helper), opened("agent"))
	}
}

// TestHostileRepositoriesBite: the traps work on a program that steps into them, and the
// watch notices that.
func TestHostileRepositoriesBite(t *testing.T) {
	t.Parallel()
	strace := straces(t)
	for name, script := range map[string]string{
		"git status": "/usr/bin/git status", "a program on PATH": "tmux -V", "a connection": "echo >/dev/tcp/127.0.0.1/9",
		"a write": "echo >made", "a folder": "mkdir made", "a changed mode": "chmod 700 evil.sh", "a link": "ln -s x made",
	} {
		t.Run(name, func(t *testing.T) {
			h, _ := newHostile(t, 0, "9")
			d := newDesk(t, answers(t), nil)
			d.dir = h.dir
			d.env = append(d.env, "PATH="+h.path("node_modules/.bin")+":"+os.Getenv("PATH"))
			before := files(t, filepath.Dir(h.dir))
			// The weakened program: the real one, which a helper precedes.
			w := d.watched(name, strace, "/bin/bash", "-c", script+"; exec agent --version")
			w.Wait()
			did := strings.Join(slices.DeleteFunc(w.did(), func(line string) bool { return strings.Contains(line, `/agent"`) }), "")
			if did == "" {
				t.Error("goes unnoticed")
			}
			after := files(t, filepath.Dir(h.dir))
			_, ran := after[filepath.Join(filepath.Dir(h.dir), "ran")]
			if traps := name == "git status" || name == "a program on PATH"; ran != traps {
				t.Errorf("the repository's program ran: %v\n%s", ran, did)
			}
			if made := name == "a write" || name == "a folder" || name == "a link"; made && maps.Equal(before, after) {
				t.Error("no change of the files was noticed")
			}
		})
	}
}
