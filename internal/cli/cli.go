// Package cli is the command line: it parses the arguments, asks for missing
// settings, joins a session with its face, and reports errors. It guarantees that
// arguments are parsed once, by one parser; that an error is one message on standard
// error, safe to show, with the next step if there is one; and that nothing is read,
// run or connected to before a command needs it.
package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bb2d0cf4/agent/internal/cli/pluginargs"
	"github.com/bb2d0cf4/agent/internal/early"
	"github.com/bb2d0cf4/agent/internal/headless"
	"github.com/bb2d0cf4/agent/internal/nearest"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/shellline"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// Run executes the command line and returns the exit status: 0 done, 1 failed,
// 2 wrong usage, 3 done but something was denied, 130 interrupted.
func Run(ctx context.Context, p Process) int {
	if len(p.Args) == 1 && p.Args[0] == early.WatchdogArg {
		if err := shell.Watch(early.WatchdogInput(p.Stdin)); err != nil {
			return headless.ExitFailed
		}
		return headless.ExitDone
	}
	plugin := pluginargs.Split(p.Args)
	root, err := newRoot(p, func(cmd *cobra.Command, f *flags, args []string) error {
		f.plugin = plugin
		return start(cmd.Context(), p, f, overrides(cmd.Flags(), f), args)
	})
	if err != nil {
		fmt.Fprintf(p.Stderr, "agent: %v\n", err)
		return headless.ExitFailed
	}
	root.SetHelpCommand(newHelp(p, root))
	root.SetArgs(promptless(root, plugin.Rest))
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	if err = errors.Join(completeBash(root), refuseUnknown(root)); err == nil {
		err = root.ExecuteContext(ctx)
	}
	var exit exitError
	var usage usageError
	switch {
	case err == nil:
		return headless.ExitDone
	case errors.As(err, &exit):
		return int(exit)
	case ctx.Err() != nil:
		return headless.ExitInterrupted
	}
	fmt.Fprintf(p.Stderr, "agent: %s\n", sanitize.Text(err.Error()))
	if errors.As(err, &usage) {
		return headless.ExitUsage
	}
	return headless.ExitFailed
}

const long = `agent reads a project and proposes edits and commands. You see
every edit as a diff before it is saved, and exactly that text is saved. Commands
need your OK, except read-only ones.

  agent                      open a session in this folder
  agent "fix the test"       the same, with a first prompt
  agent -p "what is this?"   answer once and exit; standard input is appended
  agent demo                 see it work, offline
  agent help                 the pages of the documentation

Exit status: 0 done, 1 failed, 2 wrong usage, 3 done but something was denied,
130 interrupted.`

// Commands returns all commands for descriptions of them, such as a manual. They are not for running.
func Commands() (*cobra.Command, error) {
	root, err := newRoot(Process{}, nil)
	if err != nil {
		return nil, err
	}
	root.SetHelpCommand(newHelp(Process{}, root))
	root.InitDefaultHelpCmd()
	return root, completeBash(root)
}

// newRoot builds the commands. run serves the root command. An error is a bug of the
// program.
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
		return usagef("%w%s; see %s --help", err, meantFlag(cmd, err), cmd.CommandPath())
	})
	shared := root.PersistentFlags()
	shared.String("model", "", "`model` to use, as provider/name or script:FILE")
	shared.String("base-url", "", "`address` of the model's provider")
	shared.StringVar(&f.dir, "cwd", "", "work in this `folder`")
	own := root.Flags()
	own.SortFlags = false
	own.StringVarP(&f.prompt, "prompt", "p", "", "answer one `prompt` and exit")
	own.StringVar(&f.format, "output-format", "text", "with -p: `text`, json or stream-json")
	own.StringVar(&f.schema, "json-schema", "", "with -p: the answer is JSON, valid against the JSON Schema in this `file`")
	own.BoolVarP(&f.latest, "continue", "c", false, "continue the last session of this folder")
	own.VarP((*resumed)(&f.resume), "resume", "r", "continue a session by its `id`; without one, choose")
	own.Lookup("resume").NoOptDefVal = "true"
	own.String("permission-mode", "", "`mode`: default, accept-edits, plan or bypass")
	own.StringArrayVar(&f.allow, "allow", nil, "allow what this `rule` covers without asking, such as run(go test *)")
	own.StringArrayVar(&f.deny, "deny", nil, "deny what this `rule` covers")
	own.BoolVar(&f.trust, "trust", false, "with -p: use the project's settings, commands and instructions without asking")
	own.String("max-turns", "", "the maximum `number` of requests for a prompt")
	own.StringArrayVar(&f.addDirs, "add-dir", nil, "a further `folder` that may be read and changed")
	own.BoolVar(&f.reader, "screen-reader", false, "print flat, labeled lines; never redraw")
	own.BoolVar(&f.ide, "ide", false, "connect an editor at the start")
	own.BoolVar(&f.noIDE, "no-ide", false, "use no editor")
	root.AddCommand(
		newDemo(p),
		newDoctor(p, &f),
		newSessions(p, &f),
		newConfig(p, &f),
		newUndo(p, &f),
		newRedo(p, &f),
		newIDE(p, &f),
		newTrust(p, &f),
		newPermissions(p, &f),
		newAudit(p),
		newRecord(p, &f),
		newReplay(p),
		newMCP(p, &f), newLogin(p, &f), newLogout(p, &f),
		newACP(p, &f),
	)
	return root, completeFlags(root, &f)
}

// promptless gives an empty value to a -p without one, which is the last argument or has
// another flag behind it: the prompt comes from standard input then.
func promptless(root *cobra.Command, args []string) []string {
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if arg != "-p" && arg != "--prompt" {
			continue
		}
		if i+1 < len(args) && !isFlag(root, args[i+1]) {
			return args
		}
		return slices.Concat(args[:i], []string{"--prompt="}, args[i+1:])
	}
	return args
}

// isFlag reports whether arg is a flag of root: --model, --model=x, -c.
func isFlag(root *cobra.Command, arg string) bool {
	if name, long := strings.CutPrefix(arg, "--"); long {
		name, _, _ = strings.Cut(name, "=")
		return root.Flags().Lookup(name) != nil || root.PersistentFlags().Lookup(name) != nil
	}
	return len(arg) == 2 && arg[0] == '-' && root.Flags().ShorthandLookup(arg[1:]) != nil
}

// meantFlag asks whether another flag was meant than the one that err calls unknown.
func meantFlag(cmd *cobra.Command, err error) string {
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return ""
	}
	var all []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, f.Name) })
	if name = nearest.Name(name, all); name != "" {
		name = "--" + name
	}
	return meant(name)
}

// mistyped refuses a prompt of one word that looks like a misspelt command, and words that begin
// with one.
func mistyped(root *cobra.Command, args []string) error {
	if len(args) == 0 || strings.ContainsAny(args[0], " \n") {
		return nil
	}
	if name := nearest.Typo(args[0], names(root)); name != "" {
		rest := strings.Join(args[1:], " ")
		return usagef("%q is not a command; did you mean %q? To send it to the model: agent -- %s",
			args[0], strings.TrimSpace(root.Name()+" "+name+" "+rest), shellline.Quote(strings.TrimSpace(args[0]+" "+rest)))
	}
	return nil
}
