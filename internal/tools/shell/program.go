package shell

import (
	"crypto/rand"
	"fmt"
	"os/exec"
	"sync"

	"github.com/bb2d0cf4/agent/internal/sandbox"
)

// StartProgram starts a program that serves this one in a session of its own, such as an
// MCP server, with the environment in cmd.Env: if this program is killed, the watchdog ends it with all its processes.
// Close waits for it. The caller waits for the program, and calls ended then.
func (j *Jobs) StartProgram(cmd *exec.Cmd) (ended func(), err error) {
	return j.StartProgramIn(cmd, nil)
}

// StartProgramIn is like StartProgram, in a sandbox unless it is nil.
func (j *Jobs) StartProgramIn(cmd *exec.Cmd, in sandbox.Confiner) (ended func(), err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil, errClosed
	}
	left := func() {}
	start := cmd.Start
	if in != nil {
		start = func() error {
			c, err := in.Confine(cmd)
			if err == nil {
				left = func() { c.Close() }
			}
			return err
		}
	}
	if err := j.family.startProgram(cmd, start); err != nil {
		return nil, err
	}
	j.wg.Add(1)
	return sync.OnceFunc(func() {
		j.family.programEnded(cmd.Process.Pid)
		left()
		j.wg.Done()
	}), nil
}

// startProgram starts a program, which is no orphan and ends by itself. Without a
// watchdog it runs all the same.
func (f *family) startProgram(cmd *exec.Cmd, start func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	cmd.Env = append(cmd.Env, f.dog.mark+rand.Text())
	_ = f.dog.tell(lineStarting, f.started) // the first command reports it
	if err := start(); err != nil {
		return err
	}
	pid := cmd.Process.Pid
	f.shells[pid] = true
	f.started[pid] = fmt.Sprintf(lineStarted, pid, birth(pid), "-")
	_ = f.dog.tell(f.started[pid], f.started)
	return nil
}

// programEnded records that a program has been waited for.
func (f *family) programEnded(pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.shells, pid)
	f.forget(pid)
}
