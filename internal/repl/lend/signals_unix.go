//go:build unix

package lend

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

// Signals are those of the terminal and of the shell's job control.
type Signals struct {
	got     chan os.Signal
	stopped atomic.Bool   // we have stopped ourselves
	back    chan struct{} // and are to go on
}

// Catch catches signals from now on: before the terminal is taken, as a SIGQUIT or
// SIGABRT that the runtime gets would leave it so. They wait for Watch.
func Catch() *Signals {
	s := &Signals{got: make(chan os.Signal, 8), back: make(chan struct{}, 1)}
	signal.Notify(s.got, syscall.SIGWINCH, syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGQUIT, syscall.SIGABRT)
	return s
}

// Release catches no more.
func (s *Signals) Release() { signal.Stop(s.got) }

// Watch sends what the screen has to know: every new size of the terminal, Stop and
// Continued. At a SIGQUIT or SIGABRT it gives the terminal back, and then lets the runtime end
// the program with the stacks of all goroutines, as it always does.
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
				if !scr.Lent() {
					send(Stop{})
					continue
				}
				stop(os.Getpid()) // an editor's Ctrl+Z stops us with it
			case syscall.SIGCONT:
				s.continued(scr, send)
			case syscall.SIGQUIT, syscall.SIGABRT:
				_ = scr.Close() // the terminal may be gone: there is nobody to tell
				signal.Reset(sig)
				if n, ok := sig.(syscall.Signal); ok {
					_ = syscall.Kill(os.Getpid(), n)
				}
			}
		}
	}
}

// continued lets the one that has stopped the program go on. If nobody has (a SIGSTOP
// from outside), the terminal is in whatever state the shell left it.
func (s *Signals) continued(scr *screen.Screen, send func(tea.Msg)) {
	switch {
	case s.stopped.CompareAndSwap(true, false):
		s.back <- struct{}{}
	case !scr.Lent():
		send(Continued{})
	}
}

// stopping waits for the shell to bring the program back (tea.ExecCommand). The
// whole process group stops, as with any program that Ctrl+Z stops.
type stopping struct {
	external
	signals *Signals
}

// Run stops the process group and returns when it is continued.
func (s *stopping) Run() error {
	s.signals.stopped.Store(true) // before the terminal is given back: whoever waits for that may be quick
	if err := s.screen.Suspend(); err != nil {
		return err
	}
	stop(0)
	<-s.signals.back
	return s.screen.Resume()
}

// stop stops a process, or our group for 0. SIGTSTP would not do: the runtime goes on
// catching it, whoever has asked for it no longer does.
func stop(pid int) { _ = syscall.Kill(pid, syscall.SIGSTOP) } // it cannot fail: they are ours

// supervised says whether a shell would continue us: our parent is in our session,
// and in another group.
func supervised() bool {
	parent := os.Getppid()
	theirs, err := unix.Getsid(parent)
	ours, err2 := unix.Getsid(0)
	group, err3 := unix.Getpgid(parent)
	return errors.Join(err, err2, err3) == nil && theirs == ours && group != unix.Getpgrp()
}

// Suspend gives the terminal back to the shell, if there is one. Its size may be another
// one afterwards: who is stopped gets no signal.
func (s *Signals) Suspend(scr Screen) tea.Cmd {
	if !supervised() {
		return nil
	}
	return tea.Exec(&stopping{external{screen: scr}, s}, func(error) tea.Msg {
		width, height := scr.Size()
		return tea.WindowSizeMsg{Width: width, Height: height}
	})
}
