package early

import (
	"os"
	"runtime/debug"
	"testing"
)

func TestEndRareGC(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		t.Fatal("GOGC is set in the environment of the test")
	}
	for _, standard := range []int{100, 50, -1} {
		debug.SetGCPercent(standard)
		percentBefore = beginRareGC()
		during := rarely
		if standard != 100 {
			during = standard
		}
		if got := debug.SetGCPercent(during); got != during {
			t.Errorf("%d: it sets %d, want %d", standard, got, during)
		}
		EndRareGC()
		if got := debug.SetGCPercent(100); got != standard {
			t.Errorf("%d: EndRareGC sets %d", standard, got)
		}
	}
}
