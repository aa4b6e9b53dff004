//go:build amd64 || arm64

package trial_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/child"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// TestServerRoom: a program that stays sees the folder as it is at any time, can change nothing of it, sees no key and no
// network, and ends with its room.
func TestServerRoom(t *testing.T) {
	b := newBench(t, map[string]string{"a": "one\n", ".env": "KEY=hunter2\n", "sub/b": "b\n"})
	cmd := exec.Command("/bin/sh", "-c", `while read line; do eval "$line" 2>&1; echo "."; done`)
	cmd.Dir, cmd.Env = b.dir, append(os.Environ(), "HOME="+b.home)
	piped, err := child.StartPiped(cmd, func(cmd *exec.Cmd) (func(), error) {
		in, err := b.Room(t.Context(), cmd)
		if err != nil {
			return nil, err
		}
		return b.jobs.StartProgramIn(cmd, in)
	})
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(piped.Out)
	ask := func(line string) string {
		t.Helper()
		if _, err := piped.In.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for {
			got, err := out.ReadString('\n')
			if err != nil {
				t.Fatalf("%s: %v after %q", line, err, all.String())
			}
			if got == ".\n" {
				return all.String()
			}
			all.WriteString(got)
		}
	}
	if got := ask("cat a sub/b; cat .env; ls new"); !strings.HasPrefix(got, "one\nb\n") || strings.Contains(got, "hunter2") {
		t.Errorf("%q", got)
	}
	scratch.Write(t, filepath.Join(b.dir, "next"), "two\n") // as a commit writes: another file in the place
	if err := os.Rename(filepath.Join(b.dir, "next"), filepath.Join(b.dir, "a")); err != nil {
		t.Fatal(err)
	}
	scratch.Write(t, filepath.Join(b.dir, "new"), "new\n")
	if got := ask("cat a new"); got != "two\nnew\n" {
		t.Errorf("after a change: %q", got)
	}
	for _, line := range []string{"echo x >made", "echo x >a", "rm a", "mkdir d", "echo x >" + b.outside} {
		if got := ask(line + " && echo done"); strings.Contains(got, "done") {
			t.Errorf("%s: %q", line, got)
		}
	}
	if got := ask("grep -c : /proc/net/dev; cat " + b.outside + "; echo x >$HOME/x && cat $HOME/x"); strings.Contains(got, "outside\n") && !strings.Contains(got, "No such") || !strings.HasSuffix(got, "x\n") {
		t.Errorf("%q", got)
	}
	if out := b.run("cat a"); out.Output != "two\n" { // runs beside it
		t.Errorf("a trial: %q", out.Output)
	}
	if err := piped.In.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	piped.Ended()
}
