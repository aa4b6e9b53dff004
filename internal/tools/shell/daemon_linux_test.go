package shell_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// daemons are programs of Perl that outrun a search for them: a process forks and ends
// every few milliseconds, and its child leaves the session. They share a lock on the file
// held, and end without it.
var daemons = map[string]string{
	"at once":           `while (-e "held") { exit if fork; setsid }`,
	"within 5 ms":       `while (-e "held") { exit if fork; setsid; select undef, undef, undef, rand 0.005 }`,
	"slowly":            `while (-e "held") { exit if fork; setsid; select undef, undef, undef, rand 0.1 }`,
	"deaf":              `$SIG{$_} = "IGNORE" for qw(TERM HUP INT); while (-e "held") { exit if fork; setsid; select undef, undef, undef, rand 0.005 }`,
	"new program":       `exit if fork; exit unless -e "held"; setsid; select undef, undef, undef, rand 0.005; exec $^X, @ARGV`,
	"guarding a friend": `my $friend = 0; while (-e "held") { if (!$friend || !kill 0, $friend) { my $me = $$; my $p = fork; $friend = $p || $me; setsid unless $p } waitpid -1, 1; select undef, undef, undef, rand 0.002 }`,
}

const daemonHead = `use POSIX; use Fcntl ":flock"; $^F = 99; open F, ">&=", 9; `

// daemonLine returns a line that starts a daemon and ends once it is there.
func daemonLine(t *testing.T, dir, program string) string {
	t.Helper()
	file := filepath.Join(dir, "daemon.pl")
	if err := os.WriteFile(file, []byte(daemonHead+program), 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("exec 9>>held; flock 9; perl %[1]s %[1]s >/dev/null 2>&1 & sleep 0.0%d; echo begun", file, 1+time.Now().Nanosecond()%9)
}

// held reports whether a daemon lives.
func held(t *testing.T, dir string) bool {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "held"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}

// TestDaemonsEnd: no daemon outlives its command, with and without a sandbox, however the
// command ends.
func TestDaemonsEnd(t *testing.T) {
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip("perl is not installed")
	}
	runs := stress.Size(1, 5)
	for name, program := range daemons {
		for _, box := range []bool{false, true} {
			for _, how := range []string{"exit", "cancel"} {
				t.Run(fmt.Sprintf("%s, sandbox %v, %s", name, box, how), func(t *testing.T) {
					for range runs {
						outlived(t, program, box, how == "cancel")
					}
				})
			}
		}
	}
	t.Logf("load: %d daemons", runs*len(daemons)*4)
}

// TestDaemonsWithoutACage: where the system has no group of processes to end at once, no
// daemon that can be recognized outlives its command unnoticed.
func TestDaemonsWithoutACage(t *testing.T) {
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip("perl is not installed")
	}
	shell.WithoutGroups(t)
	runs := stress.Size(1, 10)
	for name, program := range daemons {
		for _, how := range []string{"exit", "cancel"} {
			t.Run(name+", "+how, func(t *testing.T) {
				for range runs {
					outlived(t, program, false, how == "cancel")
				}
			})
		}
	}
	t.Logf("load: %d daemons", runs*len(daemons)*2)
}

// TestDaemonsEndWithAKilledProgram: nor do they outlive a program that is killed, where
// the system has groups.
func TestDaemonsEndWithAKilledProgram(t *testing.T) {
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip("perl is not installed")
	}
	if !shell.HasGroups() {
		t.Skip("the system lets us make no groups of processes")
	}
	for name, daemon := range daemons {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			program := exec.Command(executable(t), asVictim, dir, "cat /proc/self/cgroup >group; "+daemonLine(t, dir, daemon)+" >up; sleep 1000")
			if err := program.Start(); err != nil {
				t.Fatal(err)
			}
			within(t, 20*time.Second, "the command does not run", func() bool {
				text, err := os.ReadFile(filepath.Join(dir, "up"))
				return err == nil && len(text) > 0
			})
			group := groupOf(t, dir)
			if !held(t, dir) || !slices.ContainsFunc(shell.GroupFolders(t), group) {
				t.Error("there is no daemon to end, or no group of it")
			}
			if err := program.Process.Kill(); err != nil {
				t.Error(err)
			}
			_ = program.Wait()
			within(t, 30*time.Second, "it or its group outlives the program", func() bool {
				return !held(t, dir) && !slices.ContainsFunc(shell.GroupFolders(t), group)
			})
		})
	}
}

// groupOf returns a function that reports whether a folder is the group of the command that
// wrote its own into the file group.
func groupOf(t *testing.T, dir string) func(folder string) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "group"))
	if err != nil {
		t.Fatal(err)
	}
	return func(folder string) bool { return strings.Contains(string(text), "/"+filepath.Base(folder)+"\n") }
}

// outlived runs a daemon, and fails if it outlives its command.
func outlived(t *testing.T, program string, box, cancelled bool) {
	t.Helper()
	opts := shell.Options{Dir: t.TempDir()}
	if box {
		opts = confined(t, "")
	}
	opts.Line = daemonLine(t, opts.Dir, program)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if cancelled {
		opts.Line += "; sleep 1000"
		var once sync.Once
		opts.Output = func(text string) {
			if strings.Contains(text, "begun") {
				once.Do(func() {
					if !held(t, opts.Dir) {
						t.Error("there is no daemon to end")
					}
					cancel()
				})
			}
		}
	}
	j := shell.NewJobs()
	defer closeJobs(t, j)
	res, err := j.Run(ctx, opts)
	if err != nil || res.Cancelled != cancelled {
		t.Fatalf("%+v, %v", res, err)
	}
	said := strings.Contains(strings.Join(res.Notes, "\n"), "may still be running")
	within(t, 20*time.Second, fmt.Sprintf("it outlives the command unnoticed: notes %q", res.Notes), func() bool { return said || !held(t, opts.Dir) })
	if said {
		t.Logf("a daemon is reported: %q", res.Notes)
	}
}
