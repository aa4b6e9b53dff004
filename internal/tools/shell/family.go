package shell

import (
	"os/exec"
	"sync"
	"time"
)

// family is what this program has brought into being with its commands: their
// shells, and the orphans that it adopted.
type family struct {
	mu      sync.Mutex
	shells  map[int]bool           // running or not waited for yet, by pid
	active  int                    // commands that are not released
	zombies map[identity]time.Time // adopted, and when they were first seen
	named   map[identity]bool      // strays that the user was told of
}

func newFamily() family {
	return family{shells: map[int]bool{}, zombies: map[identity]time.Time{}, named: map[identity]bool{}}
}

// start starts a shell and enters it before anybody can look for orphans: a
// shell that is not entered would pass for one.
func (f *family) start(cmd *exec.Cmd) (identity, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return identity{}, err
	}
	pid := cmd.Process.Pid
	f.shells[pid] = true
	f.active++
	return identity{pid: pid, start: birth(pid)}, nil
}

// reaped says that a shell has been waited for.
func (f *family) reaped(pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.shells, pid)
}

// release says that a command has ended, with all that it started.
func (f *family) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.active--
}
