package firstrun

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bb2d0cf4/agent/internal/app/allowedservers"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/repl/dialog"
	"github.com/bb2d0cf4/agent/internal/repl/picker"
)

// Servers asks for each permission that a request to m still needs, and saves the
// answers.
func Servers(ctx context.Context, t dialog.Terminal, s allowedservers.Store, m config.Model) error {
	questions, err := s.Unasked(m)
	if err != nil {
		return err
	}
	for _, q := range questions {
		if err := ask(ctx, t, q, false); err != nil {
			return err
		}
		if err := s.Allow(ctx, q.Entry); err != nil {
			return err
		}
	}
	return nil
}

// ask asks one question about a server or a proxy and saves nothing. It returns ErrLeft
// for a no, and dialog.ErrBack if back is set and the person goes back.
func ask(ctx context.Context, t dialog.Terminal, q allowedservers.Question, back bool) error {
	err := confirm(ctx, t, back, q.Title, append(q.Text, "To undo a yes: agent trust rm "+q.Address))
	if errors.Is(err, ErrLeft) {
		return fmt.Errorf("%w: nothing was sent to %s, and you will be asked again", ErrLeft, q.Address)
	}
	return err
}

// Confirm asks for a yes. It returns ErrLeft for a no.
func Confirm(ctx context.Context, t dialog.Terminal, title string, text []string) error {
	return confirm(ctx, t, false, title, text)
}

func confirm(ctx context.Context, t dialog.Terminal, back bool, title string, text []string) error {
	a, err := dialog.Ask(ctx, t, dialog.Page{Title: title, Text: text, Back: back, YesNo: true, Choices: []picker.Item{
		{Title: "Yes, from now on"}, {Title: "No"},
	}})
	if err == nil && !a.Yes() {
		err = ErrLeft
	}
	return err
}

// allow asks for each permission that a request to m still needs. The answers are saved
// at the end.
func (c *chooser) allow(ctx context.Context, m config.Model) error {
	questions, err := allowedservers.Open(c.Config.Home).Unasked(m)
	if err != nil {
		return err
	}
	for _, q := range questions {
		if slices.Contains(c.allowed, q.Entry) {
			continue
		}
		if err := ask(ctx, c.Terminal, q, !c.single); err != nil {
			return err
		}
		c.allowed = append(c.allowed, q.Entry)
	}
	return nil
}
