//go:build unix

package jobcontrol

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/repl/screen"
)

// Signals handles the signals of the terminal and of job control.
type Signals struct {
	got     chan os.Signal
	stopped atomic.Bool   // we stopped ourselves
	back    chan struct{} // continues Suspend
}

// Catch starts to catch signals, which wait for Watch. Call it before taking the terminal:
// the runtime would not restore it on SIGQUIT or SIGABRT.
func Catch() *Signals {
	s := &Signals{got: make(chan os.Signal, 8), back: make(chan struct{}, 1)}
	signal.Notify(s.got, syscall.SIGWINCH, syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGQUIT, syscall.SIGABRT)
	return s
}

// Release stops catching.
func (s *Signals) Release() { signal.Stop(s.got) }

// Watch sends each new size of the terminal, Stop and Continued. On SIGQUIT or SIGABRT it
// restores the terminal and then lets the runtime end the program with all stacks, as usual.
func (s *Signals) Watch(ctx context.Context, scr *screen.Screen, send func(tea.Msg)) {
	for {
		select {
		case <-ctx.Done():
			return
		case sig := <-s.got:
			switch sig {
			case syscall.SIGWINCH:
				width, height := scr.Size()
				send(tea.WindowSizeMsg{Width: width, Height: height})
			case syscall.SIGTSTP:
				if !scr.Suspended() {
					send(Stop{})
					continue
				}
				stop(os.Getpid()) // Ctrl+Z in an external editor stops us, too
			case syscall.SIGCONT:
				s.continued(scr, send)
			case syscall.SIGQUIT, syscall.SIGABRT:
				_ = scr.Close() // the terminal may be gone
				signal.Reset(sig)
				if n, ok := sig.(syscall.Signal); ok {
					_ = syscall.Kill(os.Getpid(), n)
				}
			}
		}
	}
}

// continued resumes Suspend. If another process stopped us (SIGSTOP), the terminal is in
// whatever state the shell left.
func (s *Signals) continued(scr *screen.Screen, send func(tea.Msg)) {
	switch {
	case s.stopped.CompareAndSwap(true, false):
		s.back <- struct{}{}
	case !scr.Suspended():
		send(Continued{})
	}
}

// stopping stops the program until the shell continues it (tea.ExecCommand), along with its
// process group, like Ctrl+Z in any program.
type stopping struct {
	external
	signals *Signals
}

// Run stops the process group and returns when it is continued.
func (s *stopping) Run() error {
	s.signals.stopped.Store(true) // before the screen is suspended: the shell may be quick
	if err := s.screen.Suspend(); err != nil {
		return err
	}
	stop(0)
	<-s.signals.back
	return s.screen.Resume()
}

// stop stops a process, or our group for 0. It cannot use SIGTSTP: the runtime keeps catching
// it, even after signal.Stop.
func stop(pid int) { _ = syscall.Kill(pid, syscall.SIGSTOP) } // cannot fail: our own processes

// supervised reports whether a shell would continue us: our parent is in our session, but in
// another group.
func supervised() bool {
	parent := os.Getppid()
	theirs, err := unix.Getsid(parent)
	ours, err2 := unix.Getsid(0)
	group, err3 := unix.Getpgid(parent)
	return errors.Join(err, err2, err3) == nil && theirs == ours && group != unix.Getpgrp()
}

// Suspend returns the terminal to the shell, if there is one. Afterwards it sends the size,
// which may have changed without a signal.
func (s *Signals) Suspend(scr Screen) tea.Cmd {
	if !supervised() {
		return nil
	}
	return tea.Exec(&stopping{external{screen: scr}, s}, func(error) tea.Msg {
		width, height := scr.Size()
		return tea.WindowSizeMsg{Width: width, Height: height}
	})
}
