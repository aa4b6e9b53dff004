package lend

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// WatchSize looks at the size twice a second: the console sends no signal.
func WatchSize(ctx context.Context, scr Sized, send func(tea.Msg)) {
	every := time.NewTicker(500 * time.Millisecond)
	defer every.Stop()
	w, h := scr.Size()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			if width, height := scr.Size(); width != w || height != h {
				w, h = width, height
				send(tea.WindowSizeMsg{Width: w, Height: h})
			}
		}
	}
}

// Suspend does nothing: there is no job control.
func Suspend(Lender) tea.Cmd { return nil }
