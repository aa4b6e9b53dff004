package jobcontrol

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/repl/screen"
)

// Signals replaces the signals that the console does not send. The terminal is not restored if the program
// is killed.
type Signals struct{}

// Catch returns Signals.
func Catch() *Signals { return &Signals{} }

// Release does nothing.
func (*Signals) Release() {}

// Watch polls the size twice a second.
func (*Signals) Watch(ctx context.Context, scr *screen.Screen, send func(tea.Msg)) {
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

// Suspend returns nil: Windows has no job control.
func (*Signals) Suspend(Screen) tea.Cmd { return nil }
