//go:build unix

package lend

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
)

// WatchSize sends every new size of the terminal.
func WatchSize(ctx context.Context, scr Sized, send func(tea.Msg)) {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	defer signal.Stop(changed)
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			width, height := scr.Size()
			send(tea.WindowSizeMsg{Width: width, Height: height})
		}
	}
}

// stopped waits for the shell to bring the program back (tea.ExecCommand). The
// whole process group stops, as with any program that Ctrl+Z stops.
type stopped struct {
	external
}

// Run stops the process group and returns when it is continued.
func (s *stopped) Run() error {
	back := make(chan os.Signal, 1)
	signal.Notify(back, syscall.SIGCONT) // before the terminal is given back: whoever waits for that may be quick
	defer signal.Stop(back)
	if err := s.screen.Suspend(); err != nil {
		return err
	}
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return err
	}
	<-back
	return s.screen.Resume()
}

// Suspend gives the terminal back to the shell.
func Suspend(scr Lender) tea.Cmd {
	return tea.Exec(&stopped{external{screen: scr}}, func(error) tea.Msg { return nil })
}
