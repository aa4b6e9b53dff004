package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app/commands"
	"github.com/bb2d0cf4/agent/internal/app/recording"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

func newRecord(p Process, f *flags) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "record id", Short: "Write a session as a script that agent replay repeats", Args: exactly(1), ValidArgsFunction: f.sessionIDs(),
		Long: "Writes a stored session as a script for the scripted model, with your prompts and answers, and the\n" +
			"questions and files to expect. Known secrets are left out; look through it before you share it.",
		RunE: func(cmd *cobra.Command, args []string) error { return record(cmd.Context(), p, args[0], out) },
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `file` instead of standard output")
	return cmd
}

// record writes the script of a session to the file out, or to standard output.
func record(ctx context.Context, p Process, id, out string) error {
	cfg, err := loadConfig(nil)
	if err != nil {
		return err
	}
	script, notes, err := recording.Stored(ctx, cfg, id)
	if err != nil {
		return commands.SessionError(id, err)
	}
	remarks(p, notes)
	if out != "" {
		return statefile.Write(out, script)
	}
	return show(p, string(script))
}

func newReplay(p Process) *cobra.Command {
	r := recording.Replay{Open: p.open}
	cmd := &cobra.Command{
		Use: "replay file [folder]", Short: "Repeat a recorded session in a copy of a folder, and compare", Args: cobra.MatchAll(atLeast(1), atMost(2)),
		Long: "Runs a script of agent record with its answers in a copy of the folder (default: this one), and compares\n" +
			"questions and files. The exit status is 1 with the first difference. The commands of a recording run\n" +
			"only with --run-commands, and files outside of the folder are read only with --read-outside.",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			same, err := r.File(ctx, args[0], append(args, ".")[1])
			if err == nil {
				fmt.Fprintf(p.Stdout, "%s: the same %d prompts, %d questions and %d files\n", args[0], len(same.Prompts), len(same.Questions), len(same.Files))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&r.Strict, "strict", false, "compare the text of each proposal too")
	cmd.Flags().BoolVar(&r.RunCommands, "run-commands", false, "run the commands that the recording approves")
	cmd.Flags().BoolVar(&r.ReadOutside, "read-outside", false, "read the files outside of the folder that the recording approves")
	return cmd
}
