package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/editors/vscode"
	"github.com/bb2d0cf4/agent/internal/app/home"
	"github.com/bb2d0cf4/agent/internal/app/idelink"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/cli/doctor"
	"github.com/bb2d0cf4/agent/internal/cli/extension"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/headless"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

func newIDE(p Process, f *flags) *cobra.Command {
	here := func(run func(context.Context, Process, string, config.Config) error) func(*cobra.Command, []string) error {
		return func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(overrides(cmd.Flags(), f))
			if err != nil {
				return err
			}
			dir, err := setup.Folder(f.dir)
			if err != nil {
				return err
			}
			return run(cmd.Context(), p, dir, cfg)
		}
	}
	status := &cobra.Command{
		Use: "status", Short: "List the editors, and the one that a session would use", Args: noArgs, RunE: here(ideStatus),
	}
	check := &cobra.Command{Use: "doctor", Short: "Check each step of the connection to an editor", Args: noArgs, RunE: here(ideDoctor)}
	var to string
	install := &cobra.Command{
		Use: "install [editor]", Short: "Install the extension into VS Code and editors based on it", Args: atMost(1),
		Example: "  agent ide install\n  agent ide install cursor\n  agent ide install --to agent.vsix",
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := loadConfig(overrides(cmd.Flags(), f))
			if err != nil {
				return err
			}
			vsix, err := vscode.Package()
			if err != nil {
				return err
			}
			return ideInstall(cmd.Context(), p, cfg, vsix, strings.Join(args, ""), to)
		},
	}
	install.Flags().StringVar(&to, "to", "", "write the extension to this `file` and install nothing")
	return parent("ide", "The link to your editor", status, install, check)
}

func ideStatus(ctx context.Context, p Process, dir string, cfg config.Config) error {
	text := idelink.List(lock.Find(ctx, idelink.Search(cfg, dir)), "")
	if text == "" {
		text = "No editor was found. Is it running, with the extension? See agent ide doctor.\n"
	}
	return show(p, text)
}

// ideInstall installs the extension into the editor named only, or into every editor if
// only is empty. If to is set, it writes the extension to that file instead.
func ideInstall(ctx context.Context, p Process, cfg config.Config, vsix []byte, only, to string) error {
	if to != "" {
		abs, err := filepath.Abs(to)
		if err != nil {
			return err
		}
		if err := statefile.Write(abs, vsix); err != nil {
			return err
		}
		return show(p, "written to "+abs+"\n")
	}
	editors, err := extension.Find(only, cfg.Programs())
	if err != nil {
		return err
	}
	env := home.Without(os.Environ(), cfg.SecretEnv())
	var failed []error
	for _, e := range editors {
		if err := e.Install(ctx, vsix, filepath.Join(cfg.Home, "agent.vsix"), env); err != nil {
			failed = append(failed, err)
			continue
		}
		failed = append(failed, show(p, "installed with "+e.Path+"\n"))
	}
	return errors.Join(failed...)
}

func ideDoctor(ctx context.Context, p Process, dir string, cfg config.Config) error {
	vsix, err := vscode.Package()
	if err != nil {
		return err
	}
	d := doctor.Editor{
		Out: p.Stdout, Config: cfg, Dir: dir, Version: p.Version, Env: home.Without(os.Environ(), cfg.SecretEnv()),
	}
	if !d.Run(ctx, vsix) {
		return exitError(headless.ExitFailed)
	}
	return nil
}
