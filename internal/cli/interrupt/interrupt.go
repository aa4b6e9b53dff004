// Package interrupt takes the SIGINT of the terminal. It guarantees that one is never
// lost while it is waited for, and that afterwards it ends the program as it always does.
package interrupt

import (
	"context"
	"os"
	"os/signal"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// Context ends ctx at the first SIGINT. A second one ends the program.
// Commands that need no cleaning up do without.
func Context(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	context.AfterFunc(ctx, crash.Guarded(stop))
	return ctx, stop
}

// Each delivers each SIGINT until release is called.
func Each() (ch <-chan struct{}, release func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	out, quit, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() { // ends when release is called
		defer crash.Guard()
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case <-signals:
			}
			select {
			case <-quit:
				return
			case out <- struct{}{}:
			}
		}
	}()
	return out, func() {
		signal.Stop(signals)
		close(quit)
		<-done
	}
}
