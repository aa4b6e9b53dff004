package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app/provider"
	"github.com/bb2d0cf4/agent/internal/app/settings"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/cli/firstrun"
	"github.com/bb2d0cf4/agent/internal/config"
)

// newForget returns the command that deletes the learned dialects.
func newForget(p Process, f *flags) *cobra.Command {
	return &cobra.Command{
		Use: "forget-dialects", Short: "Forget what was learned from servers' error messages", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(overrides(cmd.Flags(), f))
			if err != nil {
				return err
			}
			n, err := provider.OpenDialects(cfg.Home).Forget()
			switch {
			case err != nil:
				return err
			case n == 0:
				return show(p, "Nothing was learned.\n")
			case n == 1:
				return show(p, "Forgot the dialect of one model.\n")
			}
			return show(p, fmt.Sprintf("Forgot the dialects of %d models.\n", n))
		},
	}
}

// asUsage returns err as a mistake of usage if it is about a setting of the user.
func asUsage(err error) error {
	if wrong := new(settings.WrongError); errors.As(err, &wrong) {
		return usageError{Err: err}
	}
	return err
}

func newConfig(p Process, f *flags) *cobra.Command {
	path := &cobra.Command{
		Use: "path", Short: "Print the path of the configuration file", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			file, err := settings.File()
			if err == nil {
				err = show(p, file+"\n")
			}
			return err
		},
	}
	show := &cobra.Command{
		Use: "show", Aliases: []string{"list"}, Short: "Print the current settings and where they come from", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := loadSetup(cmd.Context(), p, f, overrides(cmd.Flags(), f), false)
			if err != nil {
				return err
			}
			remarks(p, set.Notes)
			dir, err := setup.Folder(f.dir)
			if err != nil {
				return err
			}
			if _, err := set.PermissionRules(dir, f.rules()); err != nil {
				return err
			}
			_, err = p.Stdout.WriteString(settings.Describe(set.Config))
			return err
		},
	}
	set := &cobra.Command{
		Use: "set key value", Short: "Change one setting in the file; comments stay", Args: exactly(2), ValidArgsFunction: settingValues,
		Example: "  agent config set model openai/gpt-5\n  agent config set providers.local.base_url http://127.0.0.1:9000/v1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := settings.Set(cmd.Context(), args[0], args[1]); err != nil {
				return asUsage(err)
			}
			return tellSet(p, args[0])
		},
	}
	model := &cobra.Command{
		Use: "model", Short: "Choose the model and enter its key, as at the first start", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(overrides(cmd.Flags(), f))
			if err != nil {
				return err
			}
			return chooseModel(cmd.Context(), p, cfg)
		},
	}
	return parent("config", "Show and change the configuration", path, show, newGet(p, f), set, model, newModels(p), newForget(p, f))
}

// newGet returns the command that prints one setting.
func newGet(p Process, f *flags) *cobra.Command {
	return &cobra.Command{
		Use: "get key", Short: "Print the current value of a setting", Args: exactly(1), ValidArgsFunction: settingKeys,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := loadConfig(overrides(cmd.Flags(), f))
			if err != nil {
				return err
			}
			value, err := settings.Get(cfg, args[0])
			if err != nil {
				return asUsage(err)
			}
			return show(p, value+"\n")
		},
	}
}

// tellSet confirms that a setting was saved, and warns if another source overrides it.
func tellSet(p Process, key string) error {
	file, err := settings.File()
	if err != nil {
		return err
	}
	if err := showLine(p, "saved "+key+" in "+file); err != nil {
		return err
	}
	cfg, err := config.Load(nil)
	if err != nil {
		return nil //nolint:nilerr // the setting is saved; what is wrong elsewhere, the next command tells
	}
	for _, s := range cfg.Settings() {
		if s.Key == key && !strings.HasPrefix(s.Source, file) {
			remark(p, s.Source+" overrides it: "+key+" is "+s.Value)
		}
	}
	return nil
}

// newModels returns the command that lists the known models of hosted providers.
func newModels(p Process) *cobra.Command {
	return &cobra.Command{
		Use: "models [PROVIDER]", Short: "List the known models of hosted providers, with context and prices", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			lines, err := settings.Models(args...)
			if err != nil {
				return usageError{Err: err}
			}
			return show(p, strings.Join(lines, "\n")+"\n")
		},
	}
}

// chooseModel asks for a model.
func chooseModel(ctx context.Context, p Process, cfg config.Config) error {
	if !talks(p) {
		return usagef("there is no terminal to choose a model on: use agent config set model PROVIDER/NAME")
	}
	notes, err := firstrun.Model(ctx, firstrun.Options{Terminal: dialogTerminal(p, cfg), Config: cfg, Screens: 3})
	remarks(p, notes)
	return err
}
