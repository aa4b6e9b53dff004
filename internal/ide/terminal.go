package ide

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/ide/client"
)

// Terminal is the visible terminal of the linked editor.
type Terminal struct{ links *current }

// Run runs an approved command there; see client.RunInTerminal. Without an editor it
// returns editor.ErrNone.
func (t Terminal) Run(ctx context.Context, cmd client.TerminalCommand) (client.TerminalRun, error) {
	l, _ := t.links.get()
	if l == nil {
		return client.TerminalRun{}, editor.ErrNone
	}
	return l.client.RunInTerminal(ctx, cmd)
}
