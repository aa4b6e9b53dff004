package cli

import (
	"cmp"
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/acp"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/early"
)

// newACP returns agent acp, which serves an editor over standard input and output.
func newACP(p Process, f *flags) *cobra.Command {
	var setUp bool
	cmd := &cobra.Command{
		Use: "acp", Short: "Serve an editor by the Agent Client Protocol", Args: noArgs,
		Long: "Serves a program that hosts agents, such as Zed, by the Agent Client Protocol on standard\n" +
			"input and output. agent help editors describes how to set it up.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			over := overrides(cmd.Flags(), f)
			if setUp {
				return setUpModel(cmd.Context(), p, f, over)
			}
			if isTerminal(p.Stdin) {
				return usagef("agent acp is for an editor to start, which talks to it over standard input; see agent help editors")
			}
			home, err := config.Home()
			if err != nil {
				return err
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			// Without this, a write to a host that was killed would end us before our commands.
			signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
			out := p.Stdout
			p.Stdout = p.Stderr // nothing else may write to it
			early.EndRareGC()
			return acp.Serve(ctx, p.Stdin, out, acp.Options{
				Version: p.Version,
				Home:    home,
				Setup: func(ctx context.Context, dir string) (setup.Setup, error) {
					return setup.Load(ctx, setup.Request{Over: over, Dir: cmp.Or(dir, f.dir)})
				},
				New:     p.open,
				Builtin: builtin(),
			})
		},
	}
	cmd.Flags().BoolVar(&setUp, acp.SetUpFlag, false, "ask for a model and its key on the terminal, and exit")
	return cmd
}

// setUpModel asks the questions of a first start that are left, or else for another model.
func setUpModel(ctx context.Context, p Process, f *flags, over config.Overrides) error {
	set, err := loadSetup(ctx, p, f, over, false)
	if err != nil {
		return err
	}
	if !talks(p) || acp.Ready(set.Config) == nil {
		return chooseModel(ctx, p, set.Config)
	}
	if set, _, err = completeSetup(ctx, p, f, over, set); err != nil {
		return err
	}
	remarks(p, set.Notes)
	return acp.Ready(set.Config)
}
