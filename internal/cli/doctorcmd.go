package cli

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app/idelink"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/cli/doctor"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/headless"
)

func newDoctor(p Process, f *flags) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check that everything the agent needs is there", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			over := overrides(cmd.Flags(), f)
			cfg, err := config.Load(over)
			opt := examination(p, f.dir, p.Stdout)
			if opt.JSON = asJSON; opt.Dir != "" && err == nil {
				r := f.request(over)
				r.Dir = opt.Dir
				opt.Sources, err = setup.Survey(cmd.Context(), r, cfg, f.rules())
			}
			if !doctor.Run(cmd.Context(), opt, cfg, err) {
				return exitError(headless.ExitFailed)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

// examination returns the options for a report on a session in dir.
func examination(p Process, dir string, out io.Writer) doctor.Options {
	opt := doctor.Options{Version: p.Version, Stdin: p.Stdin, Stdout: p.Stdout, Out: out, Env: os.Environ(), Link: idelink.Best(dir)}
	opt.Dir, _ = setup.Folder(dir) // a missing folder has no settings of its own
	return opt
}
