package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// private makes the agent's own folder private, and the one of the lock files in it,
// before a command reads or writes there. The doctor only looks.
func private(p Process, cmd *cobra.Command) error {
	if cmd.Name() == "doctor" {
		return nil
	}
	home, err := config.Home()
	if err != nil {
		return nil //nolint:nilerr // what needs it says so
	}
	for _, dir := range []string{home, filepath.Join(home, "ide")} {
		open, err := statefile.Private(dir)
		if err != nil {
			return usagef("%w: look at what is there, then put it right, or set AGENT_HOME to another folder of yours", err)
		}
		if open != "" {
			remark(p, open+"; it is private now")
		}
	}
	return nil
}
