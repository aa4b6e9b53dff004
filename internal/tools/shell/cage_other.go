//go:build unix && !linux

package shell

import "os/exec"

// startInGroup starts a command: only Linux has groups, of which no process can leave.
func startInGroup(cmd *exec.Cmd) (cage, error) { return nil, cmd.Start() }

// endGroup does nothing.
func endGroup(string) {}

// sweep does nothing: the processes of a command are its group or session.
func (t *tree) sweep() (ended, survivors []process) { return nil, nil }
