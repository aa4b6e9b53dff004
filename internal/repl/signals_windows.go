package repl

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/repl/screen"
)

// watchSize looks at the size twice a second: the console sends no signal.
func watchSize(ctx context.Context, scr *screen.Screen, send func(tea.Msg)) {
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

// suspend does nothing: there is no job control.
func suspend(*screen.Screen) tea.Cmd { return nil }
