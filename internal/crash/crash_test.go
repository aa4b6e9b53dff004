package crash

import (
	"sync/atomic"
	"testing"
)

// panics runs f in a guarded goroutine and returns its panic value.
func panics(f func()) any {
	out := make(chan any)
	go func() {
		defer func() { out <- recover() }() // in place of the runtime
		defer Guard()
		f()
	}()
	return <-out
}

func TestGuard(t *testing.T) {
	const boom = "boom"
	var ran atomic.Int32
	release := Hold(func() { ran.Add(1) })
	if got := panics(func() {}); got != nil || ran.Load() != 0 {
		t.Errorf("without a panic: %v, restored %d times", got, ran.Load())
	}
	if got := panics(func() { panic(boom) }); got != boom || ran.Load() != 1 {
		t.Errorf("a panic: %v, restored %d times", got, ran.Load())
	}
	release()
	if got := panics(func() { panic(boom) }); got != boom || ran.Load() != 1 {
		t.Errorf("after release: %v, restored %d times", got, ran.Load())
	}
}

// A late release does not affect the next holder.
func TestLateRelease(t *testing.T) {
	var ran atomic.Int32
	first := Hold(func() { t.Error("the first one ran") })
	second := Hold(func() { ran.Add(1) })
	defer second()
	first()
	if got := panics(func() { panic("boom") }); got != "boom" || ran.Load() != 1 {
		t.Errorf("%v, restored %d times", got, ran.Load())
	}
}

// Others start the goroutine.
func TestGuarded(t *testing.T) {
	const boom = "boom"
	restored := false
	defer Hold(func() { restored = true })()
	defer func() {
		if got := recover(); got != boom || !restored {
			t.Errorf("%v, restored: %v", got, restored)
		}
	}()
	Guarded(func() { panic(boom) })()
}

func TestGroup(t *testing.T) {
	var g Group
	var ran atomic.Int32
	for range 10 {
		g.Go(func() { ran.Add(1) })
	}
	if g.Wait(); ran.Load() != 10 {
		t.Errorf("%d of 10 ran", ran.Load())
	}
}
