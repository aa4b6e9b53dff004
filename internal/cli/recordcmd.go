package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app/commands"
	"github.com/bb2d0cf4/agent/internal/app/recording"
	"github.com/bb2d0cf4/agent/internal/audit"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session/archive"
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
	info, conv, err := archive.New(cfg.Home).Read(id)
	if err != nil {
		return commands.SessionError(id, err)
	}
	log, err := audit.Open(cfg.Home).Session(info.ID)
	if err != nil {
		return err
	}
	secrets, notes := recording.Known(ctx, cfg)
	script, more := recording.Of(info, conv, log, recording.NewSecrets(secrets...))
	notes = append(notes, more...)
	remarks(p, notes)
	data, err := script.Encode()
	if err != nil {
		return err
	}
	if out != "" {
		return statefile.Write(out, data)
	}
	return show(p, string(data))
}

func newReplay(p Process) *cobra.Command {
	r := recording.Replay{Open: p.open}
	cmd := &cobra.Command{
		Use: "replay file [folder]", Short: "Repeat a recorded session in a copy of a folder, and compare", Args: cobra.MatchAll(atLeast(1), atMost(2)),
		Long: "Runs a script of agent record with its answers in a copy of the folder (default: this one), and compares\n" +
			"questions and files. The exit status is 1 with the first difference. The commands of a recording run\n" +
			"only with --run-commands, and files outside of the folder are read only with --read-outside.",
		RunE: func(cmd *cobra.Command, args []string) error { return replayed(cmd.Context(), p, r, append(args, ".")) },
	}
	cmd.Flags().BoolVar(&r.Strict, "strict", false, "compare the text of each proposal too")
	cmd.Flags().BoolVar(&r.RunCommands, "run-commands", false, "run the commands that the recording approves")
	cmd.Flags().BoolVar(&r.ReadOutside, "read-outside", false, "read the files outside of the folder that the recording approves")
	return cmd
}

// replayed replays the script args[0] in a copy of the folder args[1].
func replayed(ctx context.Context, p Process, r recording.Replay, args []string) (err error) {
	ctx, stop := interruptible(ctx)
	defer stop()
	data, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	place, err := recording.NewCopy()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, place.Remove()) }()
	script, text, err := recording.Parse(args[0], data, place.Folder)
	if err != nil {
		return err
	}
	if lines := script.Recording.Commands(); len(lines) > 0 && !r.RunCommands {
		return usagef("this recording approves commands, which would run on your system; look at them and give --run-commands:\n%s", sanitize.Text(strings.Join(lines, "\n")))
	}
	if paths := script.Recording.Outside(place.Folder); len(paths) > 0 && !r.ReadOutside {
		return usagef("this recording approves reads of your files outside of the folder; look at them and give --read-outside:\n%s", sanitize.Text(place.Hide(strings.Join(paths, "\n"))))
	}
	if err := place.Fill(args[1]); err != nil {
		return err
	}
	file := place.File(args[0])
	if err := statefile.Write(file, text); err != nil {
		return err
	}
	difference, err := r.Run(ctx, script, file, place)
	if err != nil {
		return err
	}
	if difference != "" {
		return fmt.Errorf("the replay of %s differs: %s", args[0], place.Hide(difference))
	}
	fmt.Fprintf(p.Stdout, "%s: the same %d prompts, %d questions and %d files\n", args[0],
		len(script.Recording.Prompts), len(script.Recording.Questions), len(script.Recording.Files))
	return nil
}
