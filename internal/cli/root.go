package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/headless"
	"github.com/bb2d0cf4/agent/internal/nearest"
)

const long = `agent reads a project and proposes edits and commands. Nothing is written or run
before you have said yes, and what is written is exactly what you saw.

  agent                      open a session in this folder
  agent "fix the test"       the same, with a first prompt
  agent -p "what is this?"   answer once and leave; standard input is appended
  agent demo                 see it work, offline

Exit status: 0 done, 1 failed, 2 wrong usage, 3 done but something was denied,
130 interrupted.`

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

// newRoot builds the commands. run serves the root command, with complete flags.
// An error is a defect of the program.
func newRoot(p Process, run func(cmd *cobra.Command, f *flags, args []string) error) (*cobra.Command, error) {
	var f flags
	root := &cobra.Command{
		Use:   "agent [prompt]",
		Short: "A coding agent for the terminal",
		Long:  long, Version: p.Version,
		SilenceUsage: true, SilenceErrors: true,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: f.prompts,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return private(p, cmd) },
		RunE: func(cmd *cobra.Command, args []string) error {
			f.prompted = cmd.Flags().Changed("prompt")
			if err := mistyped(cmd, args); err != nil && f.resume == "" && cmd.ArgsLenAtDash() < 0 {
				return err
			}
			return run(cmd, &f, args)
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; see %s --help", err, cmd.CommandPath())
	})
	shared := root.PersistentFlags()
	shared.String("model", "", "`model` to use, as provider/name or script:FILE")
	shared.String("base-url", "", "`address` of the model's provider")
	shared.StringVar(&f.dir, "cwd", "", "work in this `folder`")
	own := root.Flags()
	own.SortFlags = false
	own.StringVarP(&f.prompt, "prompt", "p", "", "answer this `prompt` and leave")
	own.StringVar(&f.format, "output-format", "text", "with -p: `text`, json or stream-json")
	own.BoolVarP(&f.latest, "continue", "c", false, "continue the last session of this folder")
	own.VarP((*resumed)(&f.resume), "resume", "r", "continue a session by its `id`; without one, choose")
	own.Lookup("resume").NoOptDefVal = "true"
	own.String("permission-mode", "", "`mode`: default, accept-edits, plan or bypass")
	own.String("max-turns", "", "at most this `many` requests for a prompt")
	own.StringArrayVar(&f.addDirs, "add-dir", nil, "a further `folder` that may be read and changed")
	own.BoolVar(&f.reader, "screen-reader", false, "flat, labelled lines; nothing is drawn twice")
	own.BoolVar(&f.ide, "ide", false, "connect an editor at the start")
	own.BoolVar(&f.noIDE, "no-ide", false, "use no editor")
	root.AddCommand(newDemo(p), newDoctor(p, &f), newSessions(p, &f), newConfig(p, &f), newUndo(p, &f), newRedo(p, &f), newIDE(p, &f), newTrust(p, &f))
	return root, completeFlags(root, &f)
}

// promptless gives an empty value to a -p that has none, as it is the last argument or
// another flag follows: the prompt comes from standard input then.
func promptless(root *cobra.Command, args []string) []string {
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if arg != "-p" && arg != "--prompt" {
			continue
		}
		if i+1 < len(args) {
			name, _, _ := strings.Cut(strings.TrimPrefix(args[i+1], "--"), "=")
			if !strings.HasPrefix(args[i+1], "--") || root.Flags().Lookup(name) == nil && root.PersistentFlags().Lookup(name) == nil {
				return args
			}
		}
		return slices.Concat(args[:i], []string{"--prompt="}, args[i+1:])
	}
	return args
}

// mistyped refuses a prompt of one word that is nearly the name of a command.
func mistyped(root *cobra.Command, args []string) error {
	if len(args) != 1 || strings.ContainsAny(args[0], " \n") {
		return nil
	}
	names := make([]string, 0, len(root.Commands()))
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	if name := nearest.Typo(args[0], names); name != "" {
		return usagef("%q is no command; did you mean %q? To say it to the model: agent -- %s",
			args[0], root.Name()+" "+name, args[0])
	}
	return nil
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
