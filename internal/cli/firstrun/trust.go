package firstrun

import (
	"context"
	"errors"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/repl/dialog"
	"github.com/bb2d0cf4/agent/internal/repl/picker"
)

// ErrLeft reports that the person left; nothing was changed.
var ErrLeft = dialog.ErrLeft

// Trust asks whether to trust the files found in a folder and saves the answer. before
// is the answer so far.
func Trust(ctx context.Context, t dialog.Terminal, s trust.Store, f trust.Found, before trust.Answer) (trusted bool, err error) {
	page := dialog.Page{Title: "Trust the files of this project?", Text: append([]string{f.Dir, ""}, Describe(f)...)}
	switch before {
	case trust.Changed:
		page.Title = "The files of this project have changed since you trusted them. Trust them now?"
	case trust.Replaced:
		page.Title = "This is another folder than the one that you trusted here. Trust its files?"
	}
	page.Choices = []picker.Item{
		{Title: "No, go on without them", Detail: "agent trust add changes that"},
		{Title: "Yes, use them", Detail: "here and in folders below"},
	}
	a, err := dialog.Ask(ctx, t, page)
	if errors.Is(err, dialog.ErrLeft) {
		return false, fmt.Errorf("%w: nothing of the project was used, and you will be asked again", ErrLeft)
	}
	if err != nil {
		return false, err
	}
	e := trust.Entry{Dir: f.Dir, Folder: f.Folder}
	if a.Choice == 1 {
		e.Trusted, e.Hash = true, f.Hash
	}
	return e.Trusted, s.Set(ctx, e)
}

// Describe lists everything that a project would set up, and the effect of trusting it.
func Describe(f trust.Found) []string {
	var lines []string
	if f.Config != nil {
		lines = append(lines, trust.ConfigFile+" would set:")
		counts, left, err := config.Project{File: trust.ConfigFile, Data: f.Config}.Allowed()
		for _, l := range counts {
			lines = append(lines, "  "+l)
		}
		for _, l := range left {
			lines = append(lines, "  (left out: "+l+")")
		}
		switch {
		case err != nil:
			lines = append(lines, fmt.Sprintf("  nothing: %v", err))
		case len(counts)+len(left) == 0:
			lines = append(lines, "  nothing")
		}
	}
	if len(f.Command) > 0 {
		lines = append(lines, trust.Commands+" would add commands, whose text goes to the model when you type them:")
		for _, c := range f.Command {
			lines = append(lines, "  "+c)
		}
	}
	for _, l := range f.Left {
		lines = append(lines, "  (left out: "+l+")")
	}
	return append(lines, "",
		"Whatever you answer, no edit is written and no command run without your yes, except commands that only read, and a project sets no keys, addresses, programs or permissions.")
}
