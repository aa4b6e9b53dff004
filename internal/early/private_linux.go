package early

import "syscall"

// keepPrivate keeps commands from reading the watchdog's input in its place. Main does the
// same for every process, and reports an error.
func keepPrivate() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0)
}
