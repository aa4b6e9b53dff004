package shell

import (
	"crypto/rand"
	"fmt"
	"os"
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
	told    map[int]string         // what the watchdog was told of shells, by pid
	dog     watchdog
}

func newFamily() family {
	return family{shells: map[int]bool{}, zombies: map[identity]time.Time{}, named: map[identity]bool{}, told: map[int]string{}, dog: watchdog{mark: newMark()}}
}

// start starts a shell, which writes into pipe, and enters it before anybody can look
// for orphans: a shell that is not entered would pass for one. unwatched is why there
// is no watchdog, the first time.
func (f *family) start(cmd *exec.Cmd, pipe *os.File) (shell identity, unwatched, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if unwatched = f.dog.tell(lineStarting, f.told); unwatched != nil {
		unwatched, f.dog.failed = unlessSaid(unwatched, f.dog.failed), true
	}
	if err := cmd.Start(); err != nil {
		return identity{}, nil, err
	}
	pid := cmd.Process.Pid
	f.shells[pid] = true
	f.active++
	shell = identity{pid: pid, start: birth(pid)}
	f.told[pid] = fmt.Sprintf(lineStarted, pid, shell.start, pipeName(pipe))
	_ = f.dog.tell(f.told[pid], f.told) // if that fails, the next command tries again
	return shell, unwatched, nil
}

func unlessSaid(err error, said bool) error {
	if said {
		return nil
	}
	return err
}

// reaped says that a shell has been waited for.
func (f *family) reaped(pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.shells, pid)
}

// release says that the command of a shell has ended, with all that it started.
func (f *family) release(shell int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.active--
	delete(f.told, shell)
	if f.dog.in != nil {
		_ = f.dog.tell(fmt.Sprintf(lineEnded, shell), f.told)
	}
}

// close ends the watchdog.
func (f *family) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.told) == 0 && f.dog.in != nil {
		_ = f.dog.cmd.Process.Kill() // nothing is left for it to do, and it may still be starting
	}
	f.dog.stop()
}

// newMark is what the marks of our commands begin with.
func newMark() string { return markName + "=" + rand.Text() + "." }
