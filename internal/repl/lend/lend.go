// Package lend gives the terminal to others for a while: to a program, or to the
// shell that the program was started from. It guarantees that the terminal is given
// back to the screen afterwards, whatever became of the other.
package lend

import (
	"io"
	"os"
	"os/exec"

	tea "charm.land/bubbletea/v2"
)

// Lender gives the terminal away and takes it back.
type Lender interface {
	Suspend() error
	Resume() error
}

// Screen is a Lender that knows the size of the terminal.
type Screen interface {
	Lender
	Size() (width, height int)
}

// What Signals tell the screen.
type (
	// Stop asks it to give the terminal to the shell, with Suspend.
	Stop struct{}
	// Continued says that somebody else has stopped the program, and that it runs
	// again.
	Continued struct{}
)

// external runs a program with the terminal to itself (tea.ExecCommand).
type external struct {
	cmd    *exec.Cmd
	screen Lender
}

// To returns cmd, to be run with the terminal, which scr gives away meanwhile.
func To(cmd *exec.Cmd, in, out *os.File, scr Lender) tea.ExecCommand {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, out
	return &external{cmd: cmd, screen: scr}
}

// SetStdin, SetStdout and SetStderr do nothing: the program gets the terminal
// itself, not a copy of what Bubble Tea reads and writes.
func (e *external) SetStdin(io.Reader)  {}
func (e *external) SetStdout(io.Writer) {}
func (e *external) SetStderr(io.Writer) {}

// Run lends the terminal to the program and takes it back.
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
