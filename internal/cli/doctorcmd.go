package cli

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app/idelink"
	"github.com/bb2d0cf4/agent/internal/cli/doctor"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/headless"
)

func newDoctor(p Process, f *flags) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check that everything the agent needs is there", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Load(overrides(cmd.Flags(), f))
			if !examine(cmd.Context(), p, f.dir, cfg, err, p.Stdout) {
				return exitError(headless.ExitFailed)
			}
			return nil
		},
	}
}

// examine writes the doctor's report on a session in dir. It returns false if something
// is broken.
func examine(ctx context.Context, p Process, dir string, cfg config.Config, cfgErr error, out io.Writer) bool {
	opt := doctor.Options{Version: p.Version, Stdin: p.Stdin, Stdout: p.Stdout, Out: out, Env: os.Environ(), Link: idelink.Best(dir)}
	opt.Dir, _ = workDir(dir) // a missing folder has no settings of its own
	return doctor.Run(ctx, opt, cfg, cfgErr)
}
