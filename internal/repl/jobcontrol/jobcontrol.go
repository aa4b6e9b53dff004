// Package jobcontrol hands the terminal to another program or, on Ctrl+Z, to the shell. It
// guarantees that the screen gets the terminal back, however the other ends.
package jobcontrol

import (
	"io"
	"os"
	"os/exec"

	tea "charm.land/bubbletea/v2"
)

// Suspender gives the terminal away and takes it back.
type Suspender interface {
	Suspend() error
	Resume() error
}

// Screen is a Suspender that knows the size of the terminal.
type Screen interface {
	Suspender
	Size() (width, height int)
}

// Messages of Signals.Watch.
type (
	// Stop requests Suspend.
	Stop struct{}
	// Continued reports that the program runs again after another process stopped it.
	Continued struct{}
)

// external runs a program in the terminal (tea.ExecCommand).
type external struct {
	cmd    *exec.Cmd
	screen Suspender
}

// Exec returns a tea.ExecCommand that suspends scr and runs cmd in the terminal.
func Exec(cmd *exec.Cmd, in, out *os.File, scr Suspender) tea.ExecCommand {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, out
	return &external{cmd: cmd, screen: scr}
}

// SetStdin, SetStdout and SetStderr are no-ops: the program gets the terminal itself, not
// Bubble Tea's input and output.
func (e *external) SetStdin(io.Reader)  {}
func (e *external) SetStdout(io.Writer) {}
func (e *external) SetStderr(io.Writer) {}

// Run runs the program and then resumes the screen.
func (e *external) Run() error {
	if err := e.screen.Suspend(); err != nil {
		return err
	}
	err := e.cmd.Run()
	if back := e.screen.Resume(); err == nil {
		err = back
	}
	return err
}
