package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/headless"
)

// pick is the value of --resume without an id.
const pick = "?"

// flags holds what is not a key of the configuration.
type flags struct {
	prompt   string
	resume   string
	latest   bool
	format   string
	dir      string
	addDirs  []string
	ide      bool
	noIDE    bool
	reader   bool
	prompted bool // -p was given
	ignored  []string
}

// resumed is the value of --resume, whose id may be left out: then it is pick.
type resumed string

func (r *resumed) String() string { return string(*r) }

// Set takes an id; "true" is what the parser says for none.
func (r *resumed) Set(id string) error {
	if id == "true" {
		id = pick
	}
	*r = resumed(id)
	return nil
}

// Type is that of a flag which needs no value: the help shows none then.
func (r *resumed) Type() string { return "bool" }

// keyFlags are the flags that override a key of the configuration.
var keyFlags = map[string]string{
	"model": "model", "base-url": "base_url", "permission-mode": "permission_mode", "max-turns": "max_turns",
}

// overrides collects the flags that stand for keys of the configuration.
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

// check completes the flags with the arguments and refuses what does not go
// together. It returns the prompt to begin with.
func (f *flags) check(args []string) (string, error) {
	if f.resume == pick && len(args) > 0 {
		f.resume, args = args[0], args[1:] // -r ID: a flag with an optional value takes none after a blank
	}
	format := headless.Format(f.format)
	for _, wrong := range []struct {
		is  bool
		why string
	}{
		{
			format != headless.Text && format != headless.JSON && format != headless.StreamJSON,
			fmt.Sprintf("--output-format: %q is none of text, json, stream-json", f.format),
		},
		{format != headless.Text && !f.prompted, "--output-format needs -p"},
		{f.latest && f.resume != "", "--continue and --resume do not go together"},
		{f.ide && f.noIDE, "--ide and --no-ide do not go together"},
		{f.prompted && f.resume == pick, "with -p, --resume needs an id; agent sessions list shows them"},
		{f.prompted && len(args) > 0, fmt.Sprintf("with -p, the prompt is its value; %q is too much", args)},
		{
			len(args) > 1,
			fmt.Sprintf("there are %d arguments; write the prompt in quotes: agent %q", len(args), strings.Join(args, " ")),
		},
	} {
		if wrong.is {
			return "", usageError{errors.New(wrong.why)}
		}
	}
	if len(args) == 1 {
		return args[0], nil
	}
	return f.prompt, nil
}

// noted adds to notes what was left out.
func (f *flags) noted(notes []string) []string {
	if len(f.ignored) == 0 {
		return notes
	}
	return append(notes, "ignored, as they mean nothing here: "+strings.Join(f.ignored, ", "))
}

func (f *flags) folder(args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return f.dir
}

// noArgs refuses arguments, as a mistake of usage.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments; %q is too much", cmd.CommandPath(), args[0])
	}
	return nil
}

// exactly wants n arguments.
func exactly(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%w; usage: %s", fmt.Errorf("%d arguments given, %d wanted", len(args), n), cmd.UseLine())
		}
		return nil
	}
}

// atMost wants n arguments or fewer.
func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return usagef("%q is too much; usage: %s", args[n], cmd.UseLine())
		}
		return nil
	}
}

// parent is a command that only holds others.
func parent(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usagef("%s has no command %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
		}
		return cmd.Help()
	}}
	cmd.AddCommand(children...)
	return cmd
}
