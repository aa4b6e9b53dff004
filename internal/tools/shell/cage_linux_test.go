package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// group returns a new group, and a tree of a shell that was started in it and waited for.
func group(t *testing.T) (*cgroup, *tree) {
	t.Helper()
	if !groupsWork() {
		t.Skip("the system lets us make no groups of processes")
	}
	adoptOrphans()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	f := newFamily()
	cmd := shellCommand("true", "/")
	cmd.Dir, cmd.Env = "/", []string{}
	shell, _, err := f.start(cmd, nil, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	f.reaped(shell.pid)
	g, ok := f.cage(shell.pid).(*cgroup)
	if !ok {
		t.Fatal("the shell is in no group")
	}
	t.Cleanup(func() {
		f.release(shell.pid)
		f.close()
		if _, err := os.Stat(g.dir); err == nil {
			t.Error("the group is left")
		}
		_ = r.Close()
		_ = w.Close()
	})
	tree := newTree(&f, shell, newMark()+"1", r)
	close(tree.exited)
	return g, tree
}

// sleeper starts a process in a group with a variable in its environment.
func sleeper(t *testing.T, g *cgroup, variable string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.Env = []string{variable}
	if err := g.start(cmd); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// TestSweepEndsWhatLeftMisses: a process with the mark is ended although nothing changes
// in the group, as when a daemon that forks gets no processor on a busy machine.
func TestSweepEndsWhatLeftMisses(t *testing.T) {
	g, tree := group(t)
	missed, friend := sleeper(t, g, tree.mark), sleeper(t, g, "NO=MARK")
	ended, survivors := tree.sweep()
	if len(ended) != 2 || survivors != nil || g.populated() {
		t.Errorf("ended %+v, survivors %+v", ended, survivors)
	}
	for _, cmd := range []*exec.Cmd{missed, friend} {
		_ = cmd.Process.Kill() // it has ended, as a rule
		if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
			t.Error(err)
		}
	}
}

// TestEndedBySweep: a process that outlived its own end, and not that of its group, did not
// survive.
func TestEndedBySweep(t *testing.T) {
	g, tree := group(t)
	cmd := sleeper(t, g, tree.mark)
	pid := cmd.Process.Pid
	r := tree.finish(leftovers{survivors: []process{{identity: identity{pid: pid, start: birth(pid)}, name: "sleep"}}})
	if len(r.ended) != 1 || r.ended[0].pid != pid || r.survivors != nil || r.strays != nil {
		t.Errorf("%+v; want it ended", r)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// TestSweepNamesStrays: a process without a trace of the command is named, even beside other
// commands, and is not ended.
func TestSweepNamesStrays(t *testing.T) {
	g, tree := group(t)
	tree.family.active++
	defer func() { tree.family.active-- }()
	stray := sleeper(t, g, "NO=MARK")
	want := []identity{{pid: stray.Process.Pid, start: birth(stray.Process.Pid)}}
	left := tree.endNow()
	var got []identity
	for _, p := range left.strays {
		got = append(got, p.identity)
	}
	if !cmp.Equal(want, got, cmp.AllowUnexported(identity{})) || left.survivors != nil || !g.populated() {
		t.Errorf("%+v; want stray %v", left, want)
	}
	if again := tree.strays(); len(again) > 0 {
		t.Errorf("named again: %v", again)
	}
	if err := stray.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = stray.Wait()
}

// TestGroupsInAGroup: the groups that a program makes in its own are found, ended and
// removed with it.
func TestGroupsInAGroup(t *testing.T) {
	g, tree := group(t)
	inner := &cgroup{filepath.Join(g.dir, groupName+"inner")}
	if err := os.MkdirAll(filepath.Join(inner.dir, groupName+"empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := sleeper(t, inner, tree.mark)
	if ended, survivors := tree.sweep(); len(ended) != 1 || ended[0].pid != cmd.Process.Pid || survivors != nil {
		t.Errorf("ended %+v, survivors %+v", ended, survivors)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// TestClearGroups: old empty groups are removed. New ones, whose command is about to start,
// and those with a process stay.
func TestClearGroups(t *testing.T) {
	g, _ := group(t)
	longAgo := time.Now().Add(-2 * oldGroup)
	var all []*cgroup
	for _, name := range []string{"old", "new", "used"} {
		sub := &cgroup{filepath.Join(g.dir, groupName+name)}
		if err := os.Mkdir(sub.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		all = append(all, sub)
	}
	cmd := sleeper(t, all[2], "NO=MARK")
	for _, sub := range []*cgroup{all[0], all[2]} {
		if err := os.Chtimes(sub.dir, longAgo, longAgo); err != nil {
			t.Fatal(err)
		}
	}
	clearGroups(g.dir)
	for i, want := range []bool{false, true, true} {
		if _, err := os.Stat(all[i].dir); (err == nil) != want {
			t.Errorf("%s: %v", all[i].dir, err)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}
