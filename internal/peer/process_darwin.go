package peer

import "golang.org/x/sys/unix"

// Process reports who runs a process.
func Process(pid int) Owner {
	if pid <= 0 {
		return Unknown
	}
	if err := unix.Kill(pid, 0); err != nil {
		return signalled(err)
	}
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	switch {
	case err != nil:
		return Unknown
	case number(info.Eproc.Ucred.Uid) == Self():
		return Mine
	}
	return Another
}
