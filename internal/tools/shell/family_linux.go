package shell

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// childless says whether this process has no child but the registered shells.
// Where that cannot be told it says no. mu is held.
func (f *family) childless() bool {
	return hasNoChild() || f.onlyShells()
}

// hasNoChild says whether this process has no child of any kind, dead ones
// included. It looks at the whole family at once, and waits for none of it.
func hasNoChild() bool {
	const anyone, look = 0, syscall.WEXITED | syscall.WNOHANG | syscall.WNOWAIT | syscall.WALL
	_, _, errno := syscall.RawSyscall6(syscall.SYS_WAITID, anyone, 0, 0, look, 0, 0)
	return errors.Is(errno, syscall.ECHILD)
}

// onlyShells says whether all children are registered shells, or the watchdog. Where the kernel
// has no list of children, or a thread ends meanwhile, it is not sure.
func (f *family) onlyShells() bool {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return false
	}
	for _, thread := range threads {
		data, err := readProc("/proc/self/task/" + thread.Name() + "/children")
		if err != nil {
			return false
		}
		for field := range strings.FieldsSeq(string(data)) {
			if pid, err := strconv.Atoi(field); err != nil || !f.shells[pid] && pid != f.dog.pid() {
				return false
			}
		}
	}
	return true
}

// reapAdopted waits for the zombies that we adopted: those that are known to be
// a command's, and others that nobody has waited for in a while. The dead
// children of other packages are in our own session, and their owners wait for
// them. mu is held.
func (f *family) reapAdopted(all []entry, known map[identity]bool) {
	self := os.Getpid()
	own := ownSession()
	for _, e := range all {
		if !e.zombie || f.shells[e.pid] {
			continue
		}
		// The parent of what is known may have died since it was read: if the
		// zombie is not our child now, waiting for it fails and does no harm.
		if known[e.identity] || e.parent == self && e.session != own && f.lingers(e.identity) {
			var status syscall.WaitStatus
			_, _ = syscall.Wait4(e.pid, &status, syscall.WNOHANG, nil) // its status is nobody's concern
			delete(f.zombies, e.identity)
		}
	}
}

// lingers says whether p was a zombie a second ago already. One that is waited
// for is gone in far less.
func (f *family) lingers(p identity) bool {
	since, seen := f.zombies[p]
	if !seen {
		f.zombies[p] = time.Now()
	}
	return seen && time.Since(since) >= time.Second
}
