package cli

import (
	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/cli/doctor"
	"github.com/bb2d0cf4/agent/internal/cli/idelink"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/headless"
)

func newDoctor(p Process, f *flags) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check that everything the agent needs is there", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Load(overrides(cmd.Flags(), f))
			opt := doctor.Options{Version: p.Version, Stdin: p.Stdin, Stdout: p.Stdout, Link: idelink.Best(f.dir)}
			if !doctor.Run(cmd.Context(), opt, cfg, err) {
				return exitError(headless.ExitFailed)
			}
			return nil
		},
	}
}
