//go:build amd64 || arm64

package sandbox

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// Probe reports the sandbox features of this system.
func Probe(context.Context) Offer {
	l := probeLandlock()
	switch {
	case l.abi == 0:
		return Offer{Missing: "the kernel has no Landlock, or it is switched off"}
	case l.abi < minABI:
		return Offer{Missing: fmt.Sprintf("the kernel's Landlock is too old (version %d; Linux 6.2 has %d)", l.abi, minABI)}
	case !hasSeccomp():
		return Offer{Missing: "the kernel has no seccomp filters"}
	}
	var o Offer
	if !l.signals {
		o.Gaps = append(o.Gaps, "a command can send signals to your other programs")
	}
	return o
}

// Start starts cmd, confined by the policy.
//
// The limits are those of a thread, and a new process has the limits of the thread that
// starts it. So a thread of this program confines itself, starts the command and ends. That
// needs no helper program, whose start would cost each command 30 ms and whose
// arguments, environment and folder would be those of the command.
func (p Policy) Start(cmd *exec.Cmd) error {
	return onNewThread(func() error { return p.start(cmd) })
}

// Confine starts cmd like Start, and keeps the confined thread until the Cage is closed: a
// process may signal those with its own limits only, so that thread reaches exactly the
// processes of this command.
func (p Policy) Confine(cmd *exec.Cmd) (Cage, error) {
	if !probeLandlock().signals {
		return &thread{}, p.Start(cmd)
	}
	b := &thread{work: make(chan func())}
	started := make(chan error, 1)
	newThread(func() {
		err := p.start(cmd)
		started <- err
		if err != nil {
			return
		}
		for f := range b.work {
			f()
		}
	})
	return b, <-started
}

// killAll kills all processes with the limits of the calling thread: the kernel skips the
// others, and no process can fork meanwhile.
func killAll() {
	for _, outside := range []int{1, unix.Getppid()} {
		if outside > 0 && outside != unix.Getpid() && unix.Kill(outside, 0) == nil {
			return // never without limits
		}
	}
	_ = unix.Kill(-1, unix.SIGKILL) // it fails if nothing is left
}

// start confines the calling thread and starts cmd.
func (p Policy) start(cmd *exec.Cmd) error {
	if err := p.confine(); err != nil {
		return fmt.Errorf("the sandbox could not be set up, so nothing was started: %w", err)
	}
	return cmd.Start()
}

// onNewThread calls f on a thread that ends afterwards, and waits for it.
func onNewThread(f func() error) error {
	done := make(chan error, 1)
	newThread(func() { done <- f() })
	return <-done
}

// newThread calls f on a thread that ends afterwards.
func newThread(f func()) {
	go func() {
		defer crash.Guard()
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			f() // still locked, so the thread ends with this goroutine
			return
		}
		defer runtime.UnlockOSThread() // the main thread never ends: keep it busy meanwhile
		done := make(chan struct{})
		newThread(func() {
			defer close(done)
			f()
		})
		<-done
	}()
}

// confine confines the calling thread for ever.
func (p Policy) confine() error {
	l := probeLandlock()
	if l.abi < minABI {
		return fmt.Errorf("the kernel has no Landlock of version %d or newer", minABI)
	}
	// Without this, a setuid program would run with rights that root has.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := l.restrict(p); err != nil {
		return err
	}
	if p.Network {
		return filter(anywhere).install()
	}
	return filter(nowhere).install()
}

// keptCapabilities are those that root's builds and package managers use on files and
// processes of their own. Nothing else is left of root's rights over the system.
const keptCapabilities = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID |
	1<<unix.CAP_KILL | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID | 1<<unix.CAP_NET_BIND_SERVICE

// dropCapabilities takes capabilities from the calling thread. With no_new_privs, no
// program gets them back.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData // low and high halves
	if err := unix.Capget(&header, &data[0]); err != nil {
		return fmt.Errorf("capget: %w", err)
	}
	for i := range data {
		keep := uint32(keptCapabilities >> (32 * i))
		data[i].Effective &= keep
		data[i].Permitted &= keep
		data[i].Inheritable &= keep
	}
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("capset: %w", err)
	}
	return nil
}
