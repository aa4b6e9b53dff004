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

// lend returns cmd, to be run on term, which scr gives away meanwhile.
func lend(cmd *exec.Cmd, term Terminal, scr lender) *external {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.In, term.Out, term.Out
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
