package cli

import (
	"context"
	"errors"
	"os"
	"testing"
)

func sendInterrupt(t *testing.T) {
	t.Helper()
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
}

func TestEach(t *testing.T) {
	ch, release := eachInterrupt()
	for range 2 {
		sendInterrupt(t)
		<-ch
	}
	release()
}

// release returns although nobody receives an interrupt.
func TestReleaseOfOneThatWaits(t *testing.T) {
	again, free := eachInterrupt() // each gets every interrupt
	defer free()
	_, release := eachInterrupt()
	sendInterrupt(t)
	<-again
	release()
}

func TestContext(t *testing.T) {
	ctx, stop := interruptible(t.Context())
	defer stop()
	sendInterrupt(t)
	<-ctx.Done()
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Error(ctx.Err())
	}
}
