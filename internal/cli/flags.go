package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/cli/pluginargs"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/headless"
	"github.com/bb2d0cf4/agent/internal/nearest"
	"github.com/bb2d0cf4/agent/internal/permission"
)

// pick is the value of --resume without an id: the user chooses.
const pick = "?"

// flags holds the flags that are not keys of the configuration.
type flags struct {
	prompt   string
	resume   string
	latest   bool
	format   string
	schema   string // a file with the JSON Schema of the answer
	dir      string
	addDirs  []string
	ide      bool
	noIDE    bool
	reader   bool
	prompted bool     // -p was given
	allow    []string // permission rules
	deny     []string
	trust    bool // the project's files, for this run
	plugin   pluginargs.Args
}

// resumed is the value of --resume: an id, or pick.
type resumed string

func (r *resumed) String() string { return string(*r) }

// Set takes an id. The parser passes "true" if it was omitted.
func (r *resumed) Set(id string) error {
	if id == "true" {
		id = pick
	}
	*r = resumed(id)
	return nil
}

// Type returns "bool", so that the help shows no value.
func (r *resumed) Type() string { return "bool" }

// keyFlags maps flags to the keys of the configuration that they override.
var keyFlags = map[string]string{
	"model": "model", "base-url": "base_url", "permission-mode": "permission_mode", "max-turns": "max_turns",
}

// overrides returns the settings that flags override.
func overrides(set *pflag.FlagSet, f *flags) config.Overrides {
	o := config.Overrides{}
	for flag, key := range keyFlags {
		if set.Changed(flag) {
			o[key] = set.Lookup(flag).Value.String()
		}
	}
	if f.ide {
		o["ide.enabled"], o["ide.auto_connect"] = "true", "true"
	}
	if f.reader {
		o["interface.screen_reader"] = "true"
	}
	if f.noIDE {
		o["ide.enabled"] = "false"
	}
	return o
}

// check completes the flags with the arguments and refuses contradictions. It returns
// the first prompt, which may be empty.
func (f *flags) check(args []string) (string, error) {
	if f.resume == pick && len(args) > 0 {
		f.resume, args = args[0], args[1:] // -r ID: a flag with an optional value takes none after a blank
	}
	if why := f.contradiction(args); why != "" {
		return "", usageError{Err: errors.New(why)}
	}
	if len(args) == 1 {
		return args[0], nil
	}
	return f.prompt, nil
}

// contradiction returns why the flags cannot be used with each other or with the arguments, or "".
func (f *flags) contradiction(args []string) string {
	format := headless.Format(f.format)
	known := []headless.Format{headless.Text, headless.JSON, headless.StreamJSON}
	for _, wrong := range []struct {
		is  bool
		why string
	}{
		{!slices.Contains(known, format), fmt.Sprintf("--output-format %q: use text, json or stream-json", f.format)},
		{format != headless.Text && !f.prompted, "--output-format needs -p"},
		{f.schema != "" && !f.prompted, "--json-schema needs -p"},
		{f.trust && !f.prompted, "--trust needs -p; a session asks, and agent trust add does too"},
		{f.latest && f.resume != "", "--continue and --resume contradict each other: use one of them"},
		{f.ide && f.noIDE, "--ide and --no-ide contradict each other: use one of them"},
		{f.prompted && f.resume == pick, "with -p, --resume needs an id; agent sessions list shows them"},
		{f.prompted && f.prompt != "" && len(args) > 0, fmt.Sprintf("-p takes one prompt, in quotes: agent -p %q", strings.Join(append([]string{f.prompt}, args...), " "))},
		{len(args) > 1, fmt.Sprintf("got %d arguments; put the prompt in quotes: agent %q", len(args), strings.Join(args, " "))},
	} {
		if wrong.is {
			return wrong.why
		}
	}
	return ""
}

// noted appends a note about the flags that have no meaning here to notes.
func (f *flags) noted(notes []string) []string {
	ignored := slices.DeleteFunc(slices.Clone(f.plugin.Ignored), func(name string) bool {
		return f.prompted && strings.HasSuffix(strings.ToLower(name), "tools")
	})
	if len(ignored) == 0 {
		return notes
	}
	return append(notes, "ignored, as they have no meaning here: "+strings.Join(ignored, ", "))
}

// rules returns the rules of the flags. With -p they include --allowedTools and
// --disallowedTools; without it those come from an editor's plugin, which is not the user's
// word.
func (f *flags) rules() (all []setup.Written) {
	add := func(effect permission.Effect, flag string, texts []string) {
		for _, text := range texts {
			all = append(all, setup.Written{Rule: config.Rule{Effect: effect.String(), Text: text, Source: flag}})
		}
	}
	add(permission.Allow, "--allow", f.allow)
	add(permission.Deny, "--deny", f.deny)
	if f.prompted {
		add(permission.Allow, "--allowedTools", f.plugin.Allowed())
		add(permission.Deny, "--disallowedTools", f.plugin.Denied())
	}
	return all
}

func (f *flags) folder(args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return f.dir
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// exactly requires n arguments.
func exactly(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%w; usage: %s", fmt.Errorf("got %d arguments, want %d", len(args), n), cmd.UseLine())
		}
		return nil
	}
}

// atMost allows n arguments or fewer.
func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return usagef("unexpected argument %q; usage: %s", args[n], cmd.UseLine())
		}
		return nil
	}
}

// atLeast requires n arguments or more.
func atLeast(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return usagef("got %d arguments, want at least %d; usage: %s", len(args), n, cmd.UseLine())
		}
		return nil
	}
}

// parent returns a command that only groups others.
func parent(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: helpOnly}
	cmd.AddCommand(children...)
	return cmd
}

// helpOnly shows the help of a command that only has others. Arguments name none of those.
func helpOnly(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return noCommand(cmd, args[0])
	}
	return cmd.Help()
}

// noCommand reports an unknown command below cmd.
func noCommand(cmd *cobra.Command, name string) error {
	return usagef("%s has no command %q%s; see %s --help", cmd.CommandPath(), name, meant(nearest.Name(name, names(cmd))), cmd.CommandPath())
}

// names returns the names of the commands below cmd.
func names(cmd *cobra.Command) (all []string) {
	for _, c := range cmd.Commands() {
		all = append(all, c.Name())
	}
	return all
}

// meant asks whether name was meant; "" if it is.
func meant(name string) string {
	if name == "" {
		return ""
	}
	return ", did you mean " + strconv.Quote(name) + "?"
}

// refuseUnknown makes cobra's own command, completion, refuse unknown commands.
func refuseUnknown(root *cobra.Command) error {
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	if err != nil {
		return err
	}
	completion.Args, completion.RunE = cobra.ArbitraryArgs, helpOnly
	return nil
}
