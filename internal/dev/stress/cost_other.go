//go:build !linux

package stress

import (
	"testing"
	"time"
)

// Cost returns the time that f takes.
func Cost(t testing.TB, f func()) time.Duration {
	t.Helper()
	began := time.Now()
	f()
	return time.Since(began)
}
