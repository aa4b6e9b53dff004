//go:build amd64 || arm64

package trial_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// escape is a line that reads or changes something outside of a trial.
type escape struct {
	name string
	line string // with status 0 if it got out
	// changed reports whether it worked, as seen from outside; nil: the status tells.
	changed func(w *world) bool
	root    bool   // works only for root
	needs   string // of the system; without it, the escape does not apply
}

// world is the surroundings of the escapes.
type world struct {
	*bench
	home, socket string
	first        map[string]func() string // return the first message of a socket or pipe; "end" if none came before
	env          []string
}

const canary = "canary-of-a-person"

// homeFiles are the files of a home that no trial may read.
var homeFiles = []string{
	".ssh/id_ed25519", ".ssh/config", ".aws/credentials", ".netrc", ".git-credentials", ".config/git/credentials", ".config/gh/hosts.yml", ".docker/config.json",
	".kube/config", ".pypirc", ".cargo/credentials.toml", ".gnupg/private-keys-v1.d/a.key", ".mozilla/firefox/a/key4.db",
	".config/google-chrome/Default/Cookies", ".local/share/keyrings/login.keyring", ".bash_history", ".password-store/a.gpg", "Documents/letter.txt",
}

// keySettings are settings that programs use, but not with a key in them.
var keySettings = map[string]string{
	".npmrc":                    "//registry.npmjs.org/:_authToken=" + canary,
	".m2/settings.xml":          "<password>" + canary + "</password>",
	".gradle/gradle.properties": "token=" + canary,
	".gitconfig":                "[url \"https://user:" + canary + "@example.com\"]\n",
	".cargo/config.toml":        "token = \"" + canary + "\"\n",
}

// folderFiles are the files of the workspace that no trial may read.
var folderFiles = map[string]string{
	".env": "KEY=" + canary, "sub/.env.local": "KEY=" + canary, "id_rsa": canary, "server.key": canary, "deep/er/service-account.json": canary, ".mcp.json": `{"token": "` + canary + `"}`,
	".git/config":           "[remote \"origin\"]\n\turl = https://user:" + canary + "@example.com/x\n",
	".git/modules/m/config": "[remote \"origin\"]\n\turl = https://user:" + canary + "@example.com/x\n",
	".git/modules/m/HEAD":   "ref: refs/heads/main\n",
}

// escapes returns all lines that are tried.
func escapes() []escape {
	has := func(path string) string { return "grep -q " + canary + " " + path }
	var all []escape
	for _, name := range homeFiles {
		all = append(all, escape{name: "read ~/" + name, line: has("~/'" + name + "'")})
	}
	for name := range keySettings {
		all = append(all, escape{name: "read a key in ~/" + name, line: has("~/'" + name + "'")})
	}
	for name, text := range folderFiles {
		if strings.Contains(text, canary) {
			all = append(all, escape{name: "read " + name, line: has("'" + name + "'")})
		}
	}
	outside := func(w *world) bool {
		data, err := os.ReadFile(w.outside)
		return err != nil || string(data) != "outside\n"
	}
	attributes := func(w *world) bool {
		info, err := os.Stat(w.outside)
		return err != nil || info.Mode().Perm() != 0o600 || info.ModTime().Year() == 2001
	}
	file := func(name string) func(w *world) bool {
		return func(w *world) bool { _, err := os.Lstat(filepath.Join(w.dir, name)); return err == nil }
	}
	inHome := func(name string) func(w *world) bool {
		return func(w *world) bool { _, err := os.Lstat(filepath.Join(w.home, name)); return err == nil }
	}
	heard := func(name string) func(w *world) bool {
		return func(w *world) bool { return w.first[name]() != "end" }
	}
	return append(all, []escape{
		{name: "search the folder", line: "grep -rq " + canary + " ."},
		{name: "pack the folder", line: "tar c . 2>/dev/null | grep -q " + canary},
		{name: "link to a file with keys", line: "ln -s .env made && " + has("made")},
		{name: "hard link to a file with keys", line: "ln .env made && " + has("made")},
		{name: "working directory in proc", line: has("/proc/self/cwd/.env")},
		{name: "root in proc", line: has("/proc/self/root$HOME/.ssh/id_ed25519")},
		{name: "root of the first process", line: has("/proc/1/root$HOME/.ssh/id_ed25519"), root: true, needs: "the root of the first process"},
		{name: "settings of git", line: "git config --get remote.origin.url | grep -q " + canary},
		{name: "state of the program", line: has("$AGENT/credentials.json")},
		{name: "environment of another process", line: has("/proc/$VICTIM/environ")},
		{name: "environments of all processes", line: "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -q ^KEY=" + canary},
		{name: "working directory of another process", line: has("/proc/$VICTIM/cwd/.ssh/id_ed25519")},
		{name: "see another process", line: "test -d /proc/$VICTIM"},
		{name: "signal another process", line: "kill -0 $VICTIM"},
		{name: "passwords of the system", line: "grep -q root: /etc/shadow", root: true},
		{name: "disk", line: "for d in $(ls /dev); do test -b /dev/$d && head -c1 /dev/$d >/dev/null && exit 0; done; exit 1", root: true, needs: "disks"},
		{name: "new disk", line: "mknod made b $DISK && head -c1 made >/dev/null", root: true, needs: "disks"},
		{name: "temporary files of others", line: has("$OTHERS")},
		{name: "shared memory of others", line: "grep -q " + canary + " /dev/shm/trial-$VICTIM"},
		{name: "messages of the kernel", line: "dmesg >/dev/null", root: true},
		{name: "TCP", line: "exec 3<>/dev/tcp/127.0.0.1/$TCP"},
		{name: "TCP to another address of the host", line: "exec 3<>/dev/tcp/$HOST/$TCP", needs: "a network"},
		{name: "TCP by IPv6", line: "exec 3<>/dev/tcp/::1/$TCP6", needs: "IPv6"},
		{name: "UDP", line: "echo x >/dev/udp/127.0.0.1/$UDP", changed: heard("udp")},
		{name: "Unix socket", line: "curl -s --unix-socket $SOCKET http://x/"},
		{name: "Unix socket in the folder", line: "curl -s --unix-socket socket http://x/"},
		{name: "abstract socket", line: "curl -s --abstract-unix-socket $ABSTRACT http://x/"},
		{name: "pipe in the folder", line: "timeout 1 sh -c 'echo x >pipe'", changed: heard("pipe")},
		{name: "make a file", line: "echo x >made", changed: file("made")},
		{name: "make a file by its absolute path", line: "echo x >$PWD/made", changed: file("made")},
		{name: "make a file through proc", line: "echo x >/proc/self/cwd/made", changed: file("made")},
		{name: "make a hook", line: "mkdir -p .git/hooks && echo x >.git/hooks/pre-commit", changed: file(".git/hooks/pre-commit")},
		{name: "make settings of an editor", line: "mkdir -p .vscode && echo x >.vscode/tasks.json", changed: file(".vscode/tasks.json")},
		{name: "write through a link to outside", line: "echo x >>link", changed: outside},
		{name: "write through a hard link to outside", line: "echo x >>hard", changed: outside},
		{name: "write outside", line: "echo x >>$OUT", changed: outside},
		{name: "write outside through a new link", line: "ln -s $OUT made; echo x >>made", changed: outside},
		{name: "remove outside", line: "rm $OUT", changed: outside},
		{name: "mode of a file outside", line: "chmod 777 $OUT", changed: attributes},
		{name: "mode through a link", line: "chmod 777 link", changed: attributes},
		{name: "mode through a hard link", line: "chmod 777 hard", changed: attributes},
		{name: "time of a file outside", line: "touch -d 2001-01-01 $OUT", changed: attributes},
		{name: "time through a hard link", line: "touch -d 2001-01-01 hard", changed: attributes},
		{name: "settings of the shell", line: "echo x >>~/.bashrc", changed: inHome(".bashrc")},
		{name: "start with the session", line: "mkdir -p ~/.config/autostart && echo x >~/.config/autostart/a.desktop", changed: inHome(".config/autostart/a.desktop")},
		{name: "program in PATH", line: "mkdir -p ~/.local/bin && echo x >~/.local/bin/made", changed: inHome(".local/bin/made")},
		{name: "mount over the folder", line: "mount -t tmpfs none sub", root: true, changed: func(w *world) bool { return unix.Unmount(filepath.Join(w.dir, "sub"), 0) == nil }},
		{name: "poisoned cache of Go", line: "mkdir -p $GOCACHE/00 && echo x >$GOCACHE/00/x-d", changed: inHome("cache/go/00/x-d")},
		{name: "poisoned modules of Go", line: "mkdir -p $GOMODCACHE && echo x >$GOMODCACHE/x", changed: inHome("cache/mod/x")},
		{name: "changed module of Go", line: "echo x >>$GOMODCACHE/a", changed: func(w *world) bool { return scratch.Read(w.t, filepath.Join(w.home, "cache/mod/a")) != "a\n" }},
		{name: "poisoned cache of npm", line: "mkdir -p ~/.npm && echo x >~/.npm/x", changed: inHome(".npm/x")},
		{name: "poisoned registry of cargo", line: "mkdir -p ~/.cargo/registry && echo x >~/.cargo/registry/x", changed: inHome(".cargo/registry/x")},
		{name: "settings of cargo", line: "mkdir -p ~/.cargo && echo x >~/.cargo/config", changed: inHome(".cargo/config")},
		{name: "poisoned cache of ccache", line: "mkdir -p ~/.cache/ccache && echo x >~/.cache/ccache/x", changed: inHome(".cache/ccache/x")},
		{name: "poisoned repository of Maven", line: "mkdir -p ~/.m2/repository && echo x >~/.m2/repository/x", changed: inHome(".m2/repository/x")},
	}...)
}

// TestEscapes: each way out works outside of a trial, or the test would prove nothing, and not in one.
func TestEscapes(t *testing.T) {
	tried, skipped := 0, []string{}
	all := escapes()
	slices.SortFunc(all, func(a, b escape) int { return strings.Compare(a.name, b.name) })
	seed := stress.Seed(t)
	rand.New(rand.NewPCG(seed, seed)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, e := range all[:stress.Size(20, len(all))] {
		if e.root && os.Geteuid() != 0 {
			skipped = append(skipped, e.name)
			continue
		}
		t.Run(strings.ReplaceAll(e.name, "/", "_"), func(t *testing.T) {
			for _, in := range []bool{false, true} {
				w := newWorld(t)
				out, code := w.try(e.line, in)
				worked := code == 0
				if e.changed != nil {
					worked = e.changed(w)
				}
				switch {
				case !in && !worked && e.needs != "":
					skipped = append(skipped, e.name+" (needs "+e.needs+")")
					return // it does not apply
				case !in && !worked:
					t.Fatalf("it fails outside of a trial too, so it shows nothing: %s", out)
				case in && worked:
					t.Errorf("it gets out of a trial: %s", out)
				}
			}
			tried++
		})
	}
	t.Logf("load: %d escapes tried; %d do not apply: %s", tried, len(skipped), strings.Join(skipped, ", "))
}

// try runs a line, in a trial or outside.
func (w *world) try(line string, in bool) (output string, code int) {
	w.t.Helper()
	opts := shell.Options{Line: line, Dir: w.dir, Env: w.env}
	if in {
		out, err := w.Run(w.t.Context(), opts, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		return out.Output, out.ExitCode
	}
	out, err := w.jobs.Run(w.t.Context(), opts)
	if err != nil {
		w.t.Fatal(err)
	}
	return out.Output, out.ExitCode
}

// newWorld makes a workspace in a home, both with keys, and a process and sockets beside it.
func newWorld(t *testing.T) *world {
	t.Helper()
	files := map[string]string{"sub/": ""}
	for name, text := range folderFiles {
		files[name] = text
	}
	for _, dir := range []string{".git/objects/", ".git/refs/"} {
		files[dir] = ""
	}
	files[".git/HEAD"] = "ref: refs/heads/main\n"
	home := scratch.Dir(t, keySettings)
	t.Setenv("HOME", home)
	w := &world{bench: newBench(t, files), home: home, first: map[string]func() string{}}
	for _, name := range homeFiles {
		scratch.Write(t, filepath.Join(home, name), canary+"\n")
	}
	scratch.Write(t, filepath.Join(home, "cache/mod/a"), "a\n")
	scratch.Write(t, filepath.Join(w.bench.home, "credentials.json"), canary)
	for name, link := range map[string]func(string, string) error{"link": os.Symlink, "hard": os.Link} {
		if err := link(w.outside, filepath.Join(w.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.env = append(shell.Environ(os.Environ(), nil),
		"HOME="+home, "OUT="+w.outside, "AGENT="+w.bench.home, "GOCACHE="+home+"/cache/go", "GOMODCACHE="+home+"/cache/mod", "GOPATH=", "XDG_CACHE_HOME=", "CARGO_HOME=")
	w.neighbours()
	return w
}

// neighbours starts a process with a key, and sockets, beside the workspace.
func (w *world) neighbours() {
	t := w.t
	victim := exec.Command("sleep", "1000")
	victim.Dir, victim.Env = w.home, []string{"KEY=" + canary}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = victim.Process.Kill()
		_ = victim.Wait()
	})
	others := filepath.Join(t.TempDir(), "others")
	shared := fmt.Sprintf("/dev/shm/trial-%d", victim.Process.Pid)
	for _, name := range []string{others, shared} {
		scratch.Write(t, name, canary)
	}
	t.Cleanup(func() { _ = os.Remove(shared) })
	var root unix.Stat_t
	if err := unix.Stat("/", &root); err != nil {
		t.Fatal(err)
	}
	abstract := fmt.Sprintf("trial-test-%d", victim.Process.Pid)
	w.socket = filepath.Join(w.home, "s")
	w.env = append(w.env,
		fmt.Sprint("VICTIM=", victim.Process.Pid), "OTHERS="+others, fmt.Sprintf("DISK=%d %d", unix.Major(root.Dev), unix.Minor(root.Dev)),
		"TCP="+w.listen("tcp", "0.0.0.0:0"), "TCP6="+w.listen("tcp6", "[::1]:0"), "UDP="+w.listen("udp", "127.0.0.1:0"), "HOST="+address(), "SOCKET="+w.socket, "ABSTRACT="+abstract)
	for _, name := range []string{w.socket, filepath.Join(w.dir, "socket"), "@" + abstract} {
		w.listen("unix", name)
	}
	pipe := filepath.Join(w.dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(pipe, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	w.first["pipe"] = func() string {
		if _, err := f.WriteString("end"); err != nil {
			t.Error(err)
		}
		buf := make([]byte, 3)
		n, err := f.Read(buf)
		if err != nil {
			t.Error(err)
		}
		return string(buf[:n])
	}
}

// listen serves one answer of HTTP at an address and returns its port; "" if the system has no such addresses.
func (w *world) listen(network, at string) (port string) {
	if network == "udp" {
		conn, err := net.ListenPacket(network, at)
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = conn.Close() })
		w.first[network] = func() string {
			if _, err := conn.WriteTo([]byte("end"), conn.LocalAddr()); err != nil {
				w.t.Error(err)
			}
			buf := make([]byte, 8)
			n, _, err := conn.ReadFrom(buf)
			if err != nil {
				w.t.Error(err)
			}
			return string(buf[:n])
		}
		_, port, _ = net.SplitHostPort(conn.LocalAddr().String())
		return port
	}
	l, err := net.Listen(network, at)
	if err != nil {
		return ""
	}
	w.t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if network == "unix" {
				_, _ = conn.Read(make([]byte, 1<<10))
			}
			_, _ = conn.Write([]byte("HTTP/1.0 200 OK\r\n\r\n"))
			_ = conn.Close()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

// address returns an address of this host that is not its loopback; "" without one.
func address() string {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(all, func(a net.Addr) bool {
		ip, ok := a.(*net.IPNet)
		return ok && !ip.IP.IsLoopback() && ip.IP.To4() != nil
	})
	if i < 0 {
		return ""
	}
	return all[i].(*net.IPNet).IP.String()
}
