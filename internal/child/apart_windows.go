package child

import "os/exec"

// Apart does nothing: Ctrl+C in the console also reaches the program.
func Apart(*exec.Cmd) {}

// KillGroup kills cmd. The programs that it has started end with its group.
func KillGroup(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // it may have ended
}

// startGroup starts cmd in a group, whose other processes end with it.
func startGroup(cmd *exec.Cmd) (ended func(), err error) {
	g, err := StartGroup(cmd)
	if err != nil {
		return nil, err
	}
	return g.Close, nil
}
