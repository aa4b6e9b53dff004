package initgc

import (
	"os"
	"runtime/debug"
	"testing"
)

func TestEnd(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		t.Fatal("GOGC is set in the environment of the test")
	}
	for _, standard := range []int{100, 50, -1} {
		debug.SetGCPercent(standard)
		before = begin()
		during := rarely
		if standard != 100 {
			during = standard
		}
		if got := debug.SetGCPercent(during); got != during {
			t.Errorf("%d: begin sets %d, want %d", standard, got, during)
		}
		End()
		if got := debug.SetGCPercent(100); got != standard {
			t.Errorf("%d: End sets %d", standard, got)
		}
	}
}
