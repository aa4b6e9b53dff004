package recording

import (
	"context"
	"errors"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/audit"
	"github.com/bb2d0cf4/agent/internal/config"
)

// Replay repeats a recorded session.
type Replay struct {
	Open        func(app.Options) (*app.App, error)
	Strict      bool // compare the text of each proposal, too
	RunCommands bool // that the recording approves
	ReadOutside bool // the files outside of the folder that the recording approves
}

// Run runs the session of a script, which is in the named file too, in a copy of the folder,
// and returns the first difference; "" for none.
func (r Replay) Run(ctx context.Context, s Script, file string, in Copy) (difference string, err error) {
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
	a, err := r.Open(app.Options{Setup: setup.New(cfg), Place: place, Model: m, Unattended: true})
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
	return s.Recording.Difference(Questions(in.Folder, log), in.Folder, r.Strict)
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
