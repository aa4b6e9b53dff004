package shell

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// childless reports whether this process is known to have no child except the registered
// shells. mu is held.
func (f *family) childless() bool {
	return hasNoChild() || f.onlyShells()
}

// hasNoChild reports whether this process has no child of any kind, dead ones included.
// It checks all children at once without waiting.
func hasNoChild() bool {
	const anyone, look = 0, syscall.WEXITED | syscall.WNOHANG | syscall.WNOWAIT | syscall.WALL
	_, _, errno := syscall.RawSyscall6(syscall.SYS_WAITID, anyone, 0, 0, look, 0, 0)
	return errors.Is(errno, syscall.ECHILD)
}

// onlyShells reports whether all children are known to be registered shells or the
// watchdog. It returns false if the kernel has no list of children or a thread ends
// meanwhile.
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

// reapAdopted waits for adopted zombies: those known to belong to a command, and others
// that nobody has waited for in a while. Dead children of other packages are in our own
// session, and their owners wait for them. mu is held.
func (f *family) reapAdopted(all []entry, known map[identity]bool) {
	self := os.Getpid()
	own := ownSession()
	for _, e := range all {
		if !e.zombie || f.shells[e.pid] {
			continue
		}
		// The parent may have died since it was read: if the zombie is not our child,
		// waiting for it fails without harm.
		if known[e.identity] || e.parent == self && e.session != own && f.lingers(e.identity) {
			var status syscall.WaitStatus
			_, _ = syscall.Wait4(e.pid, &status, syscall.WNOHANG, nil) // nobody needs its status
			delete(f.zombies, e.identity)
		}
	}
}

// lingers reports whether p was a zombie a second ago already. A zombie that somebody
// waits for is gone much sooner.
func (f *family) lingers(p identity) bool {
	since, seen := f.zombies[p]
	if !seen {
		f.zombies[p] = time.Now()
	}
	return seen && time.Since(since) >= time.Second
}
