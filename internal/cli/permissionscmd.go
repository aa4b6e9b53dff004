package cli

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app/replay"
	"github.com/bb2d0cf4/agent/internal/app/setup"
)

// newPermissions returns agent permissions, which explains and tests the questions.
func newPermissions(p Process, f *flags) *cobra.Command {
	var asJSON bool
	explain := &cobra.Command{
		Use: "explain 'COMMAND'", Short: "Show the class of a command in this folder, the rules for it, and what each mode does; nothing is run", Args: exactly(1),
		ValidArgsFunction: fixed(),
		Example: "  agent permissions explain 'ls -la | wc -l'\n  agent permissions explain --json 'git push --force'\n" +
			"  agent permissions explain --allow 'run(go test *)' 'go test ./...'",
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := loadSetup(cmd.Context(), p, f, overrides(cmd.Flags(), f), false)
			if err != nil {
				return err
			}
			dir, err := setup.Folder(f.dir)
			if err != nil {
				return err
			}
			e, err := replay.Explain(cmd.Context(), set, dir, f.rules(), args[0])
			switch {
			case err != nil:
				return err
			case asJSON:
				return printObject(p, e.Object())
			}
			return showLines(p, e.Lines())
		},
	}
	explain.Flags().BoolVar(&asJSON, "json", false, "print an object with class, parts and verdicts")
	ruleFlags(explain, f)
	return parent("permissions", "What asks, and why", explain, newPermissionsTest(p, f))
}

// ruleFlags adds the flags for rules to a command.
func ruleFlags(cmd *cobra.Command, f *flags) {
	cmd.Flags().StringArrayVar(&f.allow, "allow", nil, "as if this `rule` allowed what it covers")
	cmd.Flags().StringArrayVar(&f.deny, "deny", nil, "as if this `rule` denied what it covers")
}

// printObject prints a value as JSON on one line.
func printObject(p Process, value any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return err
	}
	return show(p, b.String())
}

// newPermissionsTest returns agent permissions test.
func newPermissionsTest(p Process, f *flags) *cobra.Command {
	var t replay.Trial
	asJSON := false
	cmd := &cobra.Command{
		Use: "test", Short: "Check the examples of the rules, and count the questions that past sessions would ask with them; nothing is run", Args: noArgs,
		Example: "  agent permissions test\n  agent permissions test --allow 'run(npm run *)' --all\n  agent permissions test --rules new.yaml --permission-mode accept-edits",
		RunE: func(cmd *cobra.Command, _ []string) error {
			over := overrides(cmd.Flags(), f)
			t.Load = func(ctx context.Context, dir string) (setup.Setup, error) {
				at := *f
				at.dir = dir
				return loadSetup(ctx, p, &at, over, false)
			}
			t.Rules = f.rules()
			dir, err := setup.Folder(f.dir)
			if err != nil {
				return err
			}
			r, err := t.Run(cmd.Context(), dir)
			switch {
			case err != nil && r.Rules == nil:
				return err
			case asJSON:
				return errors.Join(printObject(p, r.Object()), err)
			}
			return errors.Join(showLines(p, r.Lines(t.File)), err)
		},
	}
	own := cmd.Flags()
	own.StringVar(&t.File, "rules", "", "try the rules in this `file`, in the form of config.yaml, in place of yours")
	own.String("permission-mode", "", "`mode`: default, accept-edits, plan or bypass")
	own.BoolVarP(&t.All, "all", "a", false, "sessions of every folder")
	own.IntVar(&t.Last, "last", 50, "the newest `n` sessions only; 0 for all")
	own.BoolVar(&asJSON, "json", false, "print an object")
	ruleFlags(cmd, f)
	return cmd
}
