package shell

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/sandbox"
)

// family holds the processes that this program started with its commands: their shells,
// and the orphans that it adopted.
type family struct {
	mu     sync.Mutex
	shells map[int]bool // running or not waited for yet, by pid
	active int          // commands that are not released
	// confined has the shells of those that run in a sandbox.
	confined map[int]bool
	zombies  map[identity]time.Time // adopted, with the time when they were first seen
	named    map[identity]bool      // strays that were reported
	started  map[int]string         // the watchdog's lines for the shells, by pid
	cages    map[int]cage           // of the commands, by their shells; nil for none
	old      []cage                 // of ended commands
	dog      watchdog
}

func newFamily() family {
	return family{shells: map[int]bool{}, confined: map[int]bool{}, zombies: map[identity]time.Time{}, named: map[identity]bool{}, started: map[int]string{}, cages: map[int]cage{}, dog: watchdog{mark: newMark()}}
}

// start starts a shell, which writes to pipe, in a sandbox unless that is nil, and
// registers it before anybody can look for orphans: an unregistered shell would look like
// one. unwatched is the reason for a missing watchdog, the first time.
func (f *family) start(cmd *exec.Cmd, in sandbox.Confiner, pipe *os.File) (shell identity, unwatched, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if unwatched = f.dog.tell(lineStarting, f.started); unwatched != nil {
		unwatched, f.dog.failed = unlessReported(unwatched, f.dog.failed), true
	}
	all, err := startCaged(cmd, in)
	if err != nil {
		return identity{}, nil, err
	}
	pid := cmd.Process.Pid
	f.cages[pid] = all
	f.shells[pid] = true
	f.active++
	if in != nil {
		f.confined[pid] = true
	}
	shell = identity{pid: pid, start: birth(pid)}
	f.started[pid] = fmt.Sprintf(lineStarted, pid, shell.start, pipeName(pipe))
	if all != nil && all.Place() != "" {
		f.started[pid] += fmt.Sprintf(lineGroup, pid, all.Place())
	}
	_ = f.dog.tell(f.started[pid], f.started) // after an error, the next command tries again
	return shell, unwatched, nil
}

func unlessReported(err error, reported bool) error {
	if reported {
		return nil
	}
	return err
}

// reaped records that a shell has been waited for.
func (f *family) reaped(pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.shells, pid)
}

// cage returns the cage of a command by its shell, or nil.
func (f *family) cage(shell int) cage {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cages[shell]
}

// release records that the command of a shell has ended, with all its processes.
func (f *family) release(shell int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.active--
	if all := f.cages[shell]; all != nil {
		f.old = append(f.old, all)
	}
	delete(f.cages, shell)
	f.clear()
	delete(f.confined, shell)
	f.forget(shell)
}

// forget tells the watchdog that a shell has ended. mu is held.
func (f *family) forget(shell int) {
	delete(f.started, shell)
	if f.dog.in != nil {
		_ = f.dog.tell(fmt.Sprintf(lineEnded, shell), f.started)
	}
}

// clear closes the cages of ended commands, except for those with strays. mu is held.
func (f *family) clear() { f.old = slices.DeleteFunc(f.old, cage.Close) }

// close ends the watchdog.
func (f *family) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clear()
	if len(f.started) == 0 && f.dog.in != nil {
		_ = f.dog.cmd.Process.Kill() // it has nothing left to do, and may still be starting
	}
	f.dog.stop()
}

// newMark returns the common beginning of the marks of our commands.
func newMark() string { return markName + "=" + rand.Text() + "." }
