package recording

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/audit"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// Replay repeats a recorded session.
type Replay struct {
	Open        func(app.Options) (*app.App, error)
	Strict      bool // compare the text of each proposal, too
	RunCommands bool // that the recording approves
	ReadOutside bool // the files outside of the folder that the recording approves
}

// File repeats the script in file in a copy of the folder dir, and returns the recording. The
// first difference is an error.
func (r Replay) File(ctx context.Context, file, dir string) (rec Recording, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return rec, err
	}
	at, err := newPlace()
	if err != nil {
		return rec, err
	}
	defer func() { err = errors.Join(err, at.remove()) }()
	script, text, err := parse(file, data, at.folder)
	if err != nil {
		return rec, err
	}
	rec = script.Recording
	if err := r.permits(rec, at); err != nil {
		return rec, setup.UsageError{Err: err}
	}
	if err := at.fill(dir); err != nil {
		return rec, err
	}
	beside := at.file(file)
	if err := statefile.Write(beside, text); err != nil {
		return rec, err
	}
	difference, err := r.run(ctx, script, beside, at)
	if err == nil && difference != "" {
		err = fmt.Errorf("the replay of %s differs: %s", file, at.hide(difference))
	}
	return rec, err
}

// permits returns an error if the person has not allowed all that the recording approves.
func (r Replay) permits(rec Recording, in place) error {
	if lines := rec.commands(); len(lines) > 0 && !r.RunCommands {
		return fmt.Errorf("this recording approves commands, which would run on your system; look at them and give --run-commands:\n%s", strings.Join(lines, "\n"))
	}
	if paths := rec.outside(in.folder); len(paths) > 0 && !r.ReadOutside {
		return fmt.Errorf("this recording approves reads of your files outside of the folder; look at them and give --read-outside:\n%s", in.hide(strings.Join(paths, "\n")))
	}
	return nil
}

// run runs the session of a script, which is in the named file too, in a copy of the folder,
// and returns the first difference; "" for none.
func (r Replay) run(ctx context.Context, s Script, file string, in place) (difference string, err error) {
	cfg, err := config.LoadFrom(in.home, config.Overrides{
		"model": config.ScriptProvider + ":" + file, "permission_mode": "default", "max_turns": "0",
	})
	if err != nil {
		return "", err
	}
	m, err := cfg.Lookup(cfg.Model)
	if err != nil {
		return "", err
	}
	place, _, err := app.OpenPlace(cfg, app.Choice{Dir: in.folder}, m.Ref)
	if err != nil {
		return "", err
	}
	cfg.IDE.Enabled = false
	a, err := r.Open(app.Options{Setup: setup.New(cfg), Place: place, Model: m, Unattended: true})
	if err != nil {
		return "", err
	}
	id := a.Current().ID()
	answered, failed := r.play(ctx, a, s.Recording, in.folder)
	if err := errors.Join(a.Close(), ctx.Err()); err != nil {
		return "", err
	}
	switch {
	case failed != "":
		return failed, nil
	case answered != len(s.Turns):
		return fmt.Sprintf("the model was asked %d times; the recording has %d", answered, len(s.Turns)), nil
	}
	log, err := audit.Open(in.home).Session(id)
	if err != nil {
		return "", err
	}
	return s.Recording.difference(questions(in.folder, log), in.folder, r.Strict)
}

// play gives the session the recorded prompts and answers. It returns the number of
// the model's answers, and why a turn failed, if one did.
func (r Replay) play(ctx context.Context, a *app.App, rec Recording, dir string) (answered int, failed string) {
	answers, prompts := rec.Answers(dir), rec.Play()
	answers.RunCommands, answers.ReadOutside = r.RunCommands, r.ReadOutside
	a.Attach(app.Face{Emit: prompts.Saw, Queued: prompts.Queued, Reviewer: answers})
	for text, ok := prompts.Next(); ok; text, ok = prompts.Next() {
		if err := a.Run(ctx, text); err != nil {
			return prompts.Answers(), err.Error()
		}
	}
	return prompts.Answers(), ""
}
