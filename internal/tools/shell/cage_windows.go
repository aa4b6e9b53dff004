package shell

import (
	"os/exec"

	"github.com/bb2d0cf4/agent/internal/child"
)

// group is a job, as Windows calls it: of its processes none can leave.
type group struct{ *child.Group }

func (g group) Kill() bool { return g.Group.Kill() == nil }

func (group) Place() string { return "" }

func (g group) Close() bool {
	g.Group.Close()
	return true
}

// startInGroup starts a command in a group of its own.
func startInGroup(cmd *exec.Cmd) (cage, error) {
	g, err := child.StartGroup(cmd)
	if err != nil {
		return nil, err
	}
	return group{g}, nil
}

// endGroup does nothing: no watchdog calls it.
func endGroup(string) {}

// sweep ends processes that start others faster than left lists them.
func (t *tree) sweep() (ended, survivors []process) {
	all := t.family.cage(t.shell.pid)
	if ended = t.left(); len(ended) == 0 || all == nil {
		return nil, nil
	}
	all.Kill() // on failure, they are named as survivors
	survivors = waitGone(t.left, afterExit.kill, afterExit.kill, nil)
	return without(ended, survivors), survivors
}
