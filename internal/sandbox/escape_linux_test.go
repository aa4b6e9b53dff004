//go:build amd64 || arm64

package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/room"
	"github.com/bb2d0cf4/agent/internal/sandbox"
)

// world is the place of an escape: the folder that it may write, the one that it may not,
// and a process outside.
type world struct {
	in, out string
	victim  int    // its environment has KEY=canary
	extra   string // prepared by the case
}

// escape is one way out of the sandbox.
type escape struct {
	name string
	// try returns nil if it got out. It runs in a process of its own.
	try func(w world) error
	// got reports whether it worked, as seen from outside; nil: try knows best.
	got func(w world) bool
	// prepare sets up what try needs outside, and returns world.extra.
	prepare func(t *testing.T, w world) string
	needs   string // of a kernel; without it, the escape does not apply
	root    bool   // works only for root
	nobody  bool   // is about a user who is not root: needs root to become one
	network bool   // works although the network is allowed
	// harmless is why a command in a room may do it; "" if it must not.
	harmless string
}

// escapes has all ways that are tried, by kind.
func escapes() []escape {
	var all []escape
	for _, list := range [][]escape{writes, links, mounts, devicesAndPrivileges, processes, sockets} {
		all = append(all, list...)
	}
	return all
}

const (
	envEscape = "SANDBOX_TEST_ESCAPE"
	envWorld  = "SANDBOX_TEST_WORLD"
	stranger  = 65534
)

// TestMain is also the program that tries to escape.
func TestMain(m *testing.M) {
	name := os.Getenv(envEscape)
	if name == "" {
		os.Exit(m.Run())
	}
	if name == "victim" {
		<-time.After(time.Hour) // select {} would end a program in which nothing else runs
	}
	var w world
	if _, err := fmt.Sscanf(os.Getenv(envWorld), "%q %q %d %q", &w.in, &w.out, &w.victim, &w.extra); err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	for _, e := range escapes() {
		if e.name == name {
			if err := e.try(w); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(2)
}

// Each way out works without the sandbox, or the test would prove nothing, and fails with
// it.
func TestEscapes(t *testing.T) {
	if o := sandbox.Probe(t.Context()); o.Missing != "" {
		t.Skip(o.Missing)
	}
	tryAll(t, bySandbox)
}

// Each of them fails in a room, too, whose overlay is over the folder that may be written.
func TestEscapesFromARoom(t *testing.T) {
	w := newWorld(t)
	r := newRoom(t, w, "/bin/true")
	cmd := exec.Command("/bin/true")
	cmd.Dir = w.in
	if _, err := r.Confine(cmd); err != nil || cmd.Wait() != nil {
		t.Skipf("no rooms here: %v, %s", err, r.Ending().Failed)
	}
	tryAll(t, byRoom)
}

// wall confines an escape.
type wall int

const (
	without wall = iota
	bySandbox
	byRoom
)

func tryAll(t *testing.T, in wall) {
	t.Helper()
	tried, skipped := 0, []string{}
	names := map[string]bool{}
	for _, e := range escapes() {
		if names[e.name] {
			t.Errorf("%s is there twice", e.name)
		}
		names[e.name] = true
		if (e.root || e.nobody) && os.Geteuid() != 0 {
			skipped = append(skipped, e.name+" (needs root)")
			continue
		}
		t.Run(strings.ReplaceAll(e.name, " ", "_"), func(t *testing.T) {
			switch worked, said := e.run(t, without); {
			case !worked && e.needs != "":
				skipped = append(skipped, e.name+" (needs "+e.needs+")")
				t.Skipf("no %s here: %s", e.needs, said)
			case !worked:
				t.Fatalf("it fails without the sandbox too, so it shows nothing: %s", said)
			}
			tried++
			worked, said := e.run(t, in)
			t.Logf("with the sandbox: %s", strings.TrimSpace(said))
			if worked && (in != byRoom || e.harmless == "") {
				t.Error("it gets out of the sandbox")
			}
		})
	}
	t.Logf("load: %d escapes tried; %d do not apply: %s", tried, len(skipped), strings.Join(skipped, ", "))
}

// run tries e in a new world and reports whether it worked.
func (e escape) run(t *testing.T, in wall) (worked bool, said string) {
	t.Helper()
	w := newWorld(t)
	program := os.Args[0]
	if e.nobody {
		program = scratch.Copy(t, program, filepath.Join(scratch.Public(t), "program"))
	}
	w.victim = startVictim(t, w, program, e.nobody)
	if e.prepare != nil {
		w.extra = e.prepare(t, w)
	}
	cmd := exec.Command(program)
	cmd.Dir = w.in
	cmd.Env = append(os.Environ(), envEscape+"="+e.name, fmt.Sprintf("%s=%q %q %d %q", envWorld, w.in, w.out, w.victim, w.extra))
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if e.nobody {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: stranger, Gid: stranger}
	}
	if err := in.start(t, cmd, w, e.network); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 2 {
		t.Fatalf("the attempt could not be made: %s", out.String())
	}
	if e.got != nil {
		return e.got(w), out.String()
	}
	return err == nil, out.String()
}

// start starts an escape in the wall.
func (in wall) start(t *testing.T, cmd *exec.Cmd, w world, network bool) error {
	t.Helper()
	switch in {
	case bySandbox:
		return sandbox.Policy{Write: []string{w.in}, Network: network}.Start(cmd)
	case byRoom:
		_, err := newRoom(t, w, cmd.Path).Confine(cmd)
		return err
	}
	return cmd.Start()
}

// newRoom returns a room that shows the system, the program and the folder outside to read.
func newRoom(t *testing.T, w world, program string) *room.Room {
	t.Helper()
	r := room.New(t.TempDir(), 1<<20)
	for _, path := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", program, w.out} {
		r.Show(path)
	}
	over := room.Overlay{Lower: w.in, Upper: w.in + ".upper", Work: w.in + ".work"}
	for _, dir := range []string{over.Upper, over.Work} {
		if err := errors.Join(os.Mkdir(dir, 0o777), os.Chmod(dir, 0o777)); err != nil {
			t.Fatal(err)
		}
	}
	r.Change(w.in, over)
	return r
}

func newWorld(t *testing.T) world {
	t.Helper()
	base := scratch.Public(t)
	w := world{in: filepath.Join(base, "in"), out: filepath.Join(base, "out")}
	for _, dir := range []string{w.in, w.out} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte("as it was"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, "folder"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// startVictim starts a process outside of the sandbox, of the same user, that has a file
// outside open as descriptor 3.
func startVictim(t *testing.T, w world, program string, nobody bool) int {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(w.out, "file"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), envEscape+"=victim", "KEY=canary")
	cmd.ExtraFiles = []*os.File{file}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if nobody {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: stranger, Gid: stranger}
	}
	if err := errors.Join(cmd.Start(), file.Close()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // an escape may have ended it
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// outside joins names to the folder that may not be written.
func (w world) outside(name string) string { return filepath.Join(w.out, name) }

func (w world) inside(name string) string { return filepath.Join(w.in, name) }

// changed reports whether the file outside has another content or is gone.
func (w world) changed() bool {
	data, err := os.ReadFile(w.outside("file"))
	return err != nil || string(data) != "as it was"
}

// made reports whether there is anything named "new" outside.
func (w world) made() bool {
	_, err := os.Lstat(w.outside("new"))
	return err == nil
}

// put writes a file and reports errors of the writing too.
func put(name string) error { return os.WriteFile(name, []byte("escaped"), 0o666) }
