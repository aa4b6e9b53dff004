package child

import "os/exec"

// Apart does nothing: Ctrl+C in the console also reaches the program.
func Apart(*exec.Cmd) {}

// KillGroup kills cmd. The programs that it has started go on.
func KillGroup(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // it may have ended
}
