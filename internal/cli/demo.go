package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/demo"
	"github.com/bb2d0cf4/agent/internal/headless"
)

func newDemo(p Process) *cobra.Command {
	return &cobra.Command{
		Use: "demo", Short: "Repair a small project offline, with you as the reviewer", Args: noArgs,
		Long: "Writes a small Go project with a failing test to a fresh folder and has a scripted model\n" +
			"repair it: you review the edit, and its tests run in a copy of the folder, or after a yes where\n" +
			"the system has no copies. It needs Go, and no network. Without a\n" +
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
	m, err := cfg.Lookup(cfg.Model)
	if err != nil {
		return err
	}
	m.Ref = config.ScriptProvider + ":demo" // shorter than the path, for the status line
	place, _, err := app.OpenPlace(cfg, app.Choice{Dir: where.Project}, m.Ref)
	if err != nil {
		return err
	}
	o := opening{Options: app.Options{Setup: setup.Trusting(cfg), Place: place, Model: m, Env: demo.Env(nil)}}
	if isDumb(p) {
		err = demoPrinted(ctx, p, o.Options)
	} else {
		o.first = demo.Prompt
		o.Notes = []string{
			"This is a demo: the model is a script, the project is in " + where.Project + ".",
			"Read the change it proposes, then answer: y yes, n no, e edit it first.",
			"When the tests pass, /undo reverses the change. Ctrl+D exits.",
		}
		err = interactScreen(ctx, p, o)
	}
	fmt.Fprintf(p.Stderr, "The demo's folder is %s; delete it when you no longer need it.\n", where.Base)
	return err
}

// demoConfig returns the default configuration with the demo's own home and model. The
// user's is neither read nor changed.
func demoConfig(where demo.Place) (config.Config, error) {
	cfg, err := config.LoadFrom(where.Home, config.Overrides{
		"model": config.ScriptProvider + ":" + where.Script, "permission_mode": "default", "max_turns": "50",
	})
	if err != nil {
		return cfg, usageError{Err: err}
	}
	return cfg, nil
}

// demoPrinted runs the demo without asking anybody.
func demoPrinted(ctx context.Context, p Process, o app.Options) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	o.PermissionMode, o.IDE.Enabled, o.Unattended = "bypass", false, true
	a, err := p.open(o)
	if err != nil {
		return err
	}
	out := headless.NewConversation(p.Stdout)
	a.Attach(app.Face{Emit: out.Event})
	out.Line("There is no terminal to ask on, so this demo approves everything (mode: bypass).\n")
	out.Line("you: " + demo.Prompt)
	err = a.Run(ctx, demo.Prompt)
	out.Line("\nWhat the session changed:\n\n" + out.Diffs())
	out.Line("To undo it: AGENT_HOME=" + o.Home + " agent undo --cwd " + a.Dir + " (in a session it is /undo).")
	return errors.Join(err, out.Err(), a.Close())
}
