//go:build amd64 || arm64

package room

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// furnish returns a room with the system and an overlay over a folder.
func furnish(t *testing.T) (r *Room, dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, sub := range []string{"at", "lower", "upper", "work"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r = New(filepath.Join(dir, "at"), 1<<20)
	for _, path := range []string{"/usr", "/bin", "/lib", "/lib64", "/etc"} {
		r.Show(path)
	}
	r.Change(filepath.Join(dir, "lower"), Overlay{filepath.Join(dir, "lower"), filepath.Join(dir, "upper"), filepath.Join(dir, "work")})
	return r, filepath.Join(dir, "lower")
}

// start starts a line in the room.
func start(t *testing.T, r *Room, dir, line string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", line)
	var out strings.Builder
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	c, err := r.Confine(cmd)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { c.Close() })
	return cmd, &out
}

// TestRoom: a command has its folder, its status and its limits, and nothing of the system.
func TestRoom(t *testing.T) {
	for _, c := range []struct {
		line, output string
		code         int
	}{
		{"pwd; echo made >made; cat made; exit 3", "DIR\nmade\n", 3},
		{"kill -TERM $$", "", 128 + int(unix.SIGTERM)},
		{"kill -KILL $$", "", 128 + int(unix.SIGKILL)},
		{"kill -TERM 1; echo lives", "lives\n", 0},
		{"kill -KILL 1; echo lives", "lives\n", 0},
		{"ls /; ls /home /root /run 2>/dev/null", "bin\ndev\netc\nlib\nlib64\nproc\ntmp\nusr\nvar\n", 2},
		{"cat /proc/1/environ >/dev/null 2>&1 || echo hidden", "hidden\n", 0},
		{"echo x >/tmp/x && echo y >/dev/shm/y && ls /tmp /dev/shm | grep -c '^[xy]$'", "2\n", 0},
		{"ulimit -f; ulimit -c", "1024\n0\n", 0},
		{"exit 0; # " + strings.Repeat("a long line ", 9000), "", 0},
	} {
		r, dir := furnish(t)
		r.Limit(unix.RLIMIT_FSIZE, 1<<19)
		r.Limit(unix.RLIMIT_CORE, 0)
		cmd, out := start(t, r, dir, c.line)
		_ = cmd.Wait() // its status is compared
		if end := r.Ending(); end.Failed != "" {
			t.Skip(end.Failed)
		}
		if got := strings.ReplaceAll(out.String(), dir, "DIR"); got != c.output || cmd.ProcessState.ExitCode() != c.code {
			t.Errorf("%.80s: status %d, %q; want %d, %q", c.line, cmd.ProcessState.ExitCode(), got, c.code, c.output)
		}
		if _, err := os.Lstat(filepath.Join(dir, "made")); err == nil {
			t.Error("the command has written the folder")
		}
	}
}

// TestNothingStarts: without all of its room, a command does not start.
func TestNothingStarts(t *testing.T) {
	r, dir := furnish(t)
	r.Change("/var/cache", Overlay{"/missing", "/missing", "/missing"})
	cmd, out := start(t, r, dir, "echo started")
	err := cmd.Wait()
	if end := r.Ending(); err == nil || !strings.Contains(end.Failed, "/missing") || out.String() != "" {
		t.Errorf("%v, %+v, %q", err, end, out.String())
	}
}

// TestTheRoomEndsWithItsOwner: all processes of a command end when the program that started it lets go.
func TestTheRoomEndsWithItsOwner(t *testing.T) {
	r, dir := furnish(t)
	cmd := exec.Command("/bin/sh", "-c", "setsid sh -c 'echo ready; while :; do :; done' & sleep 1000")
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Confine(cmd)
	if err != nil {
		t.Skip(err)
	}
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Skip(r.Ending().Failed)
	}
	c.Close()
	if n, err := out.Read(make([]byte, 1)); n != 0 || err == nil { // all that hold it have ended
		t.Errorf("%d, %v", n, err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the room ended by itself")
	}
}
