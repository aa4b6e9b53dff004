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

// One that nobody takes does not keep release from returning.
func TestReleaseOfOneThatWaits(t *testing.T) {
	again, free := eachInterrupt() // what the first one got, this one gets too
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
