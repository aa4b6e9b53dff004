//go:build unix && !linux

package shell

import (
	"errors"
	"syscall"
)

// adoptOrphans does nothing: only Linux lets a process adopt its descendants.
func adoptOrphans() {}

// birth is not known here.
func birth(int) uint64 { return 0 }

// left returns one entry for the command's process group while anything is in
// it. The system offers no list of a session's processes without another program.
func (c *command) left() []process {
	if err := c.signalGroup(0); errors.Is(err, syscall.ESRCH) || c.hasExited() && errors.Is(err, syscall.EPERM) {
		return nil
	}
	return []process{{identity{pid: c.cmd.Process.Pid}, "process group"}}
}

// strays are not found here.
func (c *command) strays() []process { return nil }

// signal signals the group that ps stands for.
func (c *command) signal(ps []process, sig syscall.Signal) {
	if len(ps) == 0 {
		return
	}
	_ = c.signalGroup(sig) // empty is fine
}
