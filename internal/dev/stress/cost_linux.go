package stress

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// Cost returns the processor's time that f takes, which does not depend on how busy the
// machine is.
func Cost(t testing.TB, f func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime(t)
	f()
	return threadTime(t) - before
}

// threadTime returns the processor's time that this thread has taken so far.
func threadTime(t testing.TB) time.Duration {
	t.Helper()
	const thisThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thisThread, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
