package shell

import (
	"os/exec"

	"github.com/bb2d0cf4/agent/internal/sandbox"
)

// cage holds the processes of one command, wherever they go, so that all of them can be
// ended at once. One that forks faster than it can be found is ended by that alone.
type cage interface {
	// Kill ends them all, and reports whether the system can.
	Kill() bool
	// Place is where another program finds the cage; "" if nowhere.
	Place() string
	// Close releases the cage, and reports whether it did: one with processes may stay.
	Close() bool
}

// startCaged starts a command in the tightest cage that there is: its sandbox, else a
// group of the system. The cage is nil without both.
func startCaged(cmd *exec.Cmd, in sandbox.Confiner) (cage, error) {
	if in == nil {
		return startInGroup(cmd)
	}
	c, err := in.Confine(cmd)
	return box{c}, err
}

// box is the sandbox of a command, which its own program alone can end.
type box struct{ sandbox.Cage }

func (box) Place() string { return "" }
