package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// private makes the agent's own folder, and the folder of lock files in it, private to
// the user before a command uses them. The doctor changes nothing.
func private(p Process, cmd *cobra.Command) error {
	if cmd.Name() == "doctor" {
		return nil
	}
	home, err := config.Home()
	if err != nil {
		return nil //nolint:nilerr // commands that need the folder report it
	}
	for _, dir := range []string{home, filepath.Join(home, "ide")} {
		open, err := statefile.Private(dir)
		if err != nil {
			return usagef("%w: check what is there and fix it, or set AGENT_HOME to another folder of yours", err)
		}
		if open != "" {
			remark(p, open+"; it is private now")
		}
	}
	return nil
}
