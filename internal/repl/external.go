package repl

import (
	"io"
	"os/exec"
)

// lender gives the terminal away and takes it back.
type lender interface {
	Suspend() error
	Resume() error
}

// external runs a program with the terminal to itself (tea.ExecCommand).
type external struct {
	cmd    *exec.Cmd
	screen lender
}

// SetStdin, SetStdout and SetStderr connect the program to the terminal.
func (e *external) SetStdin(r io.Reader)  { e.cmd.Stdin = r }
func (e *external) SetStdout(w io.Writer) { e.cmd.Stdout = w }
func (e *external) SetStderr(w io.Writer) { e.cmd.Stderr = w }

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
