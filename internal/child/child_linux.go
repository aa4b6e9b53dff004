package child

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// tie makes the system kill cmd when this program ends.
func tie(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// limit limits the data of a process: memory written to, not memory reserved, of which
// each thread reserves a lot. An old kernel counts less.
func limit(pid int, memory uint64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: memory, Max: memory}, nil) // it may have ended
}
