package cli

import (
	"context"
	"os"
	"os/signal"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// interruptible cancels ctx at the first SIGINT. A second one ends the program. Commands
// without cleanup do not need it.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	context.AfterFunc(ctx, crash.Guarded(stop))
	return ctx, stop
}

// eachInterrupt delivers every SIGINT until release is called.
func eachInterrupt() (ch <-chan struct{}, release func()) {
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
