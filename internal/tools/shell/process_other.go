//go:build unix && !linux

package shell

import (
	"errors"
	"os"
	"syscall"
)

// adoptOrphans does nothing: only Linux lets a process adopt its descendants.
func adoptOrphans() {}

// birth is unknown on these systems.
func birth(int) uint64 { return 0 }

// left returns one entry for the command's process group while it has processes. The
// system has no list of a session's processes without another program.
func (t *tree) left() []process {
	if err := signalGroup(t.shell.pid, 0); errors.Is(err, syscall.ESRCH) || t.hasExited() && errors.Is(err, syscall.EPERM) {
		return nil
	}
	return []process{{identity: identity{pid: t.shell.pid}, name: "process group"}}
}

// strays returns none: they cannot be found.
func (t *tree) strays() []process { return nil }

// signal signals the groups of ps.
func signal(_ int, ps []process, sig syscall.Signal) {
	for _, p := range ps {
		_ = signalGroup(p.pid, sig) // an empty group is fine
	}
}

// pipeName is not needed.
func pipeName(*os.File) string { return "-" }

// left returns the process groups of shells that still have processes.
func (w *watched) left() (ps []process) {
	for pid := range w.shells {
		if !errors.Is(signalGroup(pid, 0), syscall.ESRCH) {
			ps = append(ps, process{identity: identity{pid: pid}, name: "process group"})
		}
	}
	return ps
}
