package cli

import (
	_ "embed"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app/settings"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/headless"
	"github.com/bb2d0cf4/agent/internal/langserver"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// suggestions completes an argument or the value of a flag.
type suggestions = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// completeFlags registers the values of flags.
func completeFlags(root *cobra.Command, f *flags) error {
	modes := fixed(permission.Default.String(), permission.AcceptEdits.String(), permission.Plan.String(), permission.Bypass.String())
	test, _, err := root.Find([]string{"permissions", "test"})
	if err == nil {
		err = test.RegisterFlagCompletionFunc("permission-mode", modes)
	}
	if err != nil {
		return err
	}
	for _, c := range []struct {
		flag string
		with suggestions
	}{
		{"permission-mode", modes},
		{"output-format", fixed(string(headless.Text), string(headless.JSON), string(headless.StreamJSON))},
		{"resume", f.sessionIDs()},
		{"model", models},
		{"prompt", fixed()},
		{"max-turns", fixed()},
	} {
		if err := root.RegisterFlagCompletionFunc(c.flag, c.with); err != nil {
			return err
		}
	}
	return nil
}

// bashWords replaces the functions of the bash-completion package that cobra's script for
// bash calls.
//
//go:embed bash.sh
var bashWords string

// completeBash makes agent completion bash work without the bash-completion package.
// The output of root must be set.
func completeBash(root *cobra.Command) error {
	root.InitDefaultCompletionCmd()
	bash, _, err := root.Find([]string{"completion", "bash"})
	if err != nil {
		return err
	}
	bash.Long = "Write a script that completes agent's arguments in bash. To load it in each new shell:\n\n" +
		"\techo 'source <(agent completion bash)' >>~/.bashrc"
	generate := bash.RunE
	bash.RunE = func(cmd *cobra.Command, args []string) error {
		if _, err := io.WriteString(cmd.OutOrStdout(), bashWords); err != nil {
			return err
		}
		return generate(cmd, args)
	}
	return nil
}

// prompts completes the id of a session that follows -r and a blank.
func (f *flags) prompts(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if f.resume == pick && len(args) == 0 {
		return f.sessionIDs()(cmd, args, typed)
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// fixed completes to one of values, never to files.
func fixed(values ...string) suggestions {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values, cobra.ShellCompDirectiveNoFileComp
	}
}

// sessionIDs completes to the sessions of the folder, shown with their titles.
func (f *flags) sessionIDs() suggestions {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		dir, err := setup.Folder(f.dir)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		archive, err := openArchive()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		infos, err := archive.List(dir)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		ids := make([]string, len(infos))
		for i, s := range infos {
			ids[i] = s.ID + "\t" + sanitize.Line(s.Title)
		}
		return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// models completes the configured model and the known ones of hosted providers.
func models(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	cfg, err := config.Load(nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return settings.KnownModels(cfg), cobra.ShellCompDirectiveNoFileComp
}

// settingValues completes a key and its value.
func settingValues(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	switch {
	case len(args) == 0:
		return settingKeys(cmd, args, typed)
	case len(args) == 1 && args[0] == "model":
		return models(cmd, args, typed)
	case len(args) == 1:
		return config.Values(args[0]), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// settingKeys completes the first argument to a key of the configuration.
func settingKeys(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	cfg, err := config.Load(nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var keys []string
	for _, s := range cfg.Settings() {
		keys = append(keys, s.Key)
	}
	if strings.HasPrefix(typed, "language_servers.") { // the keys below a table are many
		names := append(langserver.Known(), slices.Collect(maps.Keys(cfg.LanguageServers.Named))...)
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			for _, key := range config.LanguageServerKeys() {
				keys = append(keys, "language_servers."+name+"."+key)
			}
		}
	}
	return keys, cobra.ShellCompDirectiveNoFileComp
}
