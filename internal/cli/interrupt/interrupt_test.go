package interrupt

import (
	"context"
	"errors"
	"os"
	"testing"
)

func interrupt(t *testing.T) {
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
	ch, release := Each()
	for range 2 {
		interrupt(t)
		<-ch
	}
	release()
}

// One that nobody takes does not keep release from returning.
func TestReleaseOfOneThatWaits(t *testing.T) {
	again, free := Each() // what the first one got, this one gets too
	defer free()
	_, release := Each()
	interrupt(t)
	<-again
	release()
}

func TestContext(t *testing.T) {
	ctx, stop := Context(t.Context())
	defer stop()
	interrupt(t)
	<-ctx.Done()
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Error(ctx.Err())
	}
}
