package app

import (
	"cmp"
	"context"
	"strings"
)

// Aside answers a side question from the conversation, also while a turn runs; see
// session.Loop.Aside.
func (a *App) Aside(ctx context.Context, question string) (answer string, err error) {
	return a.Loop.Aside(ctx, cmp.Or(a.lastSystem(), a.Context.System(ctx)), strings.ToValidUTF8(question, "\uFFFD"))
}
