package idelink

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/ide"
)

// Surface is the editor as a place on which questions stand.
type Surface struct{ link *Link }

// Surface returns the editor as one, also where there is none.
func (l *Link) Surface() Surface { return Surface{l} }

// Claim takes a question for the terminal, see ide.Reviewer.
func (s Surface) Claim(ctx context.Context, id string) (text string, edited bool) {
	if s.link == nil {
		return "", false
	}
	return s.link.Reviewer.Claim(ctx, id)
}

// Shows names the editor that can be asked to show a question; empty if none can.
func (s Surface) Shows() string {
	if s.link == nil {
		return ""
	}
	return s.link.Reviewer.Shows()
}

// Show brings a question to the editor's screen, see ide.Reviewer.
func (s Surface) Show(ctx context.Context, id string) error {
	if s.link == nil {
		return ide.ErrNoEditor
	}
	return s.link.Reviewer.Show(ctx, id)
}

// Release gives it back.
func (s Surface) Release(ctx context.Context, id, text string) {
	if s.link != nil {
		s.link.Reviewer.Release(ctx, id, text)
	}
}
