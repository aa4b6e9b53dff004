package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/commands"
	"github.com/bb2d0cf4/agent/internal/app/recording"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/audit"
	"github.com/bb2d0cf4/agent/internal/config"
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
	var r replayCommand
	cmd := &cobra.Command{
		Use: "replay file [folder]", Short: "Repeat a recorded session in a copy of a folder, and compare", Args: cobra.MatchAll(atLeast(1), atMost(2)),
		Long: "Runs a script of agent record with its answers in a copy of the folder (default: this one), and compares\n" +
			"questions and files. The exit status is 1 with the first difference. The commands of a recording run\n" +
			"only with --run-commands, and files outside of the folder are read only with --read-outside.",
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), p, append(args, ".")) },
	}
	cmd.Flags().BoolVar(&r.strict, "strict", false, "compare the text of each proposal too")
	cmd.Flags().BoolVar(&r.commands, "run-commands", false, "run the commands that the recording approves")
	cmd.Flags().BoolVar(&r.outside, "read-outside", false, "read the files outside of the folder that the recording approves")
	return cmd
}

// replayCommand is agent replay.
type replayCommand struct{ strict, commands, outside bool }

// run replays the script args[0] in a copy of the folder args[1].
func (r *replayCommand) run(ctx context.Context, p Process, args []string) (err error) {
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
	if lines := script.Recording.Commands(); len(lines) > 0 && !r.commands {
		return usagef("this recording approves commands, which would run on your system; look at them and give --run-commands:\n%s", sanitize.Text(strings.Join(lines, "\n")))
	}
	if paths := script.Recording.Outside(place.Folder); len(paths) > 0 && !r.outside {
		return usagef("this recording approves reads of your files outside of the folder; look at them and give --read-outside:\n%s", sanitize.Text(place.Hide(strings.Join(paths, "\n"))))
	}
	if err := place.Fill(args[1]); err != nil {
		return err
	}
	file := place.File(args[0])
	if err := statefile.Write(file, text); err != nil {
		return err
	}
	difference, err := r.replay(ctx, p, script, file, place)
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

// replay runs the session of a script, which is in the named file too, and returns the
// first difference.
func (r *replayCommand) replay(ctx context.Context, p Process, s recording.Script, file string, in recording.Copy) (difference string, err error) {
	cfg, err := config.LoadFrom(in.Home, config.Overrides{
		"model": config.ScriptProvider + ":" + file, "permission_mode": "default", "max_turns": "0",
	})
	if err != nil {
		return "", err
	}
	m, err := cfg.Lookup(cfg.Model)
	if err != nil {
		return "", err
	}
	place, _, err := app.OpenPlace(cfg, app.Choice{Dir: in.Folder}, m.Ref)
	if err != nil {
		return "", err
	}
	cfg.IDE.Enabled = false
	a, err := p.open(app.Options{Setup: setup.New(cfg), Place: place, Model: m, Unattended: true})
	if err != nil {
		return "", err
	}
	id := a.Current().ID()
	answered, failed := r.play(ctx, a, s.Recording, in.Folder)
	if err := errors.Join(a.Close(), ctx.Err()); err != nil {
		return "", err
	}
	switch {
	case failed != "":
		return failed, nil
	case answered != len(s.Turns):
		return fmt.Sprintf("the model was asked %d times; the recording has %d", answered, len(s.Turns)), nil
	}
	log, err := audit.Open(in.Home).Session(id)
	if err != nil {
		return "", err
	}
	return s.Recording.Difference(recording.Questions(in.Folder, log), in.Folder, r.strict)
}

// play gives the session the recorded prompts and answers. It returns the number of
// the model's answers, and why a turn failed, if one did.
func (r *replayCommand) play(ctx context.Context, a *app.App, rec recording.Recording, dir string) (answered int, failed string) {
	answers, prompts := rec.Answers(dir), rec.Play()
	answers.RunCommands, answers.ReadOutside = r.commands, r.outside
	a.Attach(app.Face{Emit: prompts.Saw, Queued: prompts.Queued, Reviewer: answers})
	for text, ok := prompts.Next(); ok; text, ok = prompts.Next() {
		if err := a.Run(ctx, text); err != nil {
			return prompts.Answers(), err.Error()
		}
	}
	return prompts.Answers(), ""
}
