package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/demo"
)

func newDemo(p Process) *cobra.Command {
	return &cobra.Command{
		Use: "demo", Short: "Repair a small project offline, with you as the reviewer", Args: noArgs,
		Long: "Writes a small Go project with a failing test to a fresh folder and has a scripted model\n" +
			"repair it: you review the edit and the command. It needs Go, and no network. Without a\n" +
			"terminal everything is approved, and the conversation and the diff are printed.",
		RunE: func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), p) },
	}
}

func runDemo(ctx context.Context, p Process) error {
	where, err := demo.Write()
	if err != nil {
		return err
	}
	cfg, err := demoConfig(where)
	if err != nil {
		return err
	}
	f := &flags{dir: where.Project}
	m, err := cfg.Lookup(cfg.Model)
	if err != nil {
		return err
	}
	m.Ref = config.ScriptProvider + ":demo" // shorter than the path, for the status line
	pl, err := openStore(cfg, f, m.Ref)
	if err != nil {
		return err
	}
	if isDumb(p) {
		err = demoPrinted(ctx, p, f, cfg, pl, m)
	} else {
		err = interactScreen(ctx, p, opening{
			flags: f, cfg: cfg, place: pl, model: m, first: demo.Prompt, env: demo.Env(nil),
			notes: []string{
				"This is a demo: the model is a script, the project is in " + where.Project + ".",
				"Read the change it proposes, then answer: y yes, n no, e edit it first.",
				"When the tests pass, /undo takes the change back. Ctrl+D leaves.",
			},
		})
	}
	fmt.Fprintf(p.Stderr, "The demo's folder is %s; delete it when you are done with it.\n", where.Base)
	return err
}

// demoConfig is the default configuration with the demo's own home and model:
// the user's is neither read nor touched.
func demoConfig(where demo.Place) (config.Config, error) {
	cfg, err := config.LoadFrom(where.Home, config.Overrides{
		"model": config.ScriptProvider + ":" + where.Script, "permission_mode": "default", "max_turns": "50",
	})
	if err != nil {
		return cfg, usageError{err}
	}
	return cfg, nil
}

// demoPrinted runs the demo where there is nobody to ask.
func demoPrinted(ctx context.Context, p Process, f *flags, cfg config.Config, pl app.Place, m config.Model) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	cfg.PermissionMode = "bypass"
	out := newEventPrinter(p.Stdout)
	a, err := wire(cfg, f, pl, m, app.Face{Emit: out.Event, Env: demo.Env(nil), Watchdog: watchdog(p)})
	if err != nil {
		return errors.Join(err, pl.Store.Close())
	}
	out.Line("There is no terminal to ask on, so this demo approves everything by itself (mode: bypass).\n")
	out.Line("you: " + demo.Prompt)
	err = a.Loop.Run(ctx, demo.Prompt)
	out.Line("\nWhat the session changed:\n\n" + out.Diffs())
	out.Line("To take it back: AGENT_HOME=" + cfg.Home + " agent undo --cwd " + pl.Dir + " (in a session it is /undo).")
	return errors.Join(err, out.Err(), a.Close())
}

// isDumb says that the terminal, if there is one, can only print lines.
func isDumb(p Process) bool {
	kind := os.Getenv("TERM")
	return !talks(p) || kind == "dumb" || kind == ""
}

// talks says that there is a terminal, and so a person who can be asked.
func talks(p Process) bool { return isTerminal(p.Stdin) && isTerminal(p.Stdout) }
