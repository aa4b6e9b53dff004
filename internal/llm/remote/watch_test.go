package remote

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAWatchEndsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := 0
		w := newWatch(time.Minute, func() { ended++ })
		<-time.After(59 * time.Second)
		synctest.Wait()
		if ended != 0 {
			t.Fatal("ended early")
		}
		w.reset(time.Minute)
		<-time.After(61 * time.Second)
		if synctest.Wait(); ended != 1 {
			t.Fatalf("ended %d times", ended)
		}
		w.reset(time.Minute)
		w.stop()
		<-time.After(time.Hour)
		if synctest.Wait(); ended != 1 {
			t.Errorf("ended %d times", ended)
		}
	})
}

// The process was stopped for hours: that step does not count, and a full one follows
// before the next look.
func TestStoppedTimeIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := 0
		w := newWatch(time.Minute, func() { ended++ })
		defer w.stop()
		<-time.After(56 * time.Second) // one step and a bit are left
		w.mu.Lock()
		w.timer.Stop() // nothing runs
		w.mu.Unlock()
		<-time.After(3 * time.Hour)
		w.look() // the timer is late
		if ended != 0 {
			t.Fatal("the stop ended it")
		}
		<-time.After(2 * time.Second)
		if synctest.Wait(); ended != 0 {
			t.Error("there was no time to read what has come")
		}
		<-time.After(10 * time.Second)
		if synctest.Wait(); ended != 1 {
			t.Errorf("ended %d times", ended)
		}
	})
}
