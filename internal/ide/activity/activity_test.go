package activity

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// screen is an editor that records its messages.
type screen struct {
	mu   sync.Mutex
	told []string
	deaf int // messages that it does not take
	done chan struct{}
}

func (s *screen) take(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deaf > 0 {
		s.deaf--
		return errors.New("not now")
	}
	s.told = append(s.told, text)
	return nil
}

func (s *screen) Hello(_ context.Context, session string) error { return s.take("session " + session) }

func (s *screen) SetStatus(_ context.Context, state, text, _ string) error {
	return s.take(state + ": " + text)
}

func (s *screen) Done() <-chan struct{} { return s.done }

// shown runs steps, a second apart, and returns the messages that the editor got.
func shown(t *testing.T, s *screen, a *Activity, steps ...func()) []string {
	t.Helper()
	s.done = make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.Show(t.Context(), s, "first")
	}()
	for _, step := range steps {
		<-time.After(time.Second) // of the bubble's clock
		step()
	}
	<-time.After(time.Second)
	close(s.done)
	<-ended
	return s.told
}

func TestStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New("first")
		var one, two func()
		got := shown(t, &screen{}, a,
			func() { a.Work(true) },
			func() { one = a.Asks() },
			func() { two = a.Asks() },
			func() { one() },
			func() { two() },
			func() { a.Use("second") },
			func() { a.Work(false) },
		)
		want := []string{"idle: ", "working: working", "waiting: waits for you", "working: working", "session second", "idle: "}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if a.Session() != "second" {
			t.Errorf("session %q", a.Session())
		}
	})
}

// TestAnInstantIsNotTold: neither a rule's answer nor a thousand changes cause a
// message.
func TestAnInstantIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New("first")
		got := shown(t, &screen{}, a, func() {
			for range 1000 {
				a.Asks()()
				a.Work(true)
				a.Work(false)
			}
		})
		if d := cmp.Diff([]string{"idle: "}, got); d != "" {
			t.Error(d)
		}
	})
}

// TestToldAgain: an editor that was busy gets the true state once it is free.
func TestToldAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New("second")
		s := &screen{deaf: 2}
		got := shown(t, s, a)
		if d := cmp.Diff([]string{"session second", "idle: "}, got); d != "" || s.deaf != 0 {
			t.Error(d, s.deaf)
		}
	})
}

// TestTheProgramEnds: nothing goes on being told.
func TestTheProgramEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, deaf := range []int{0, 1 << 30} {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				New("").Show(ctx, &screen{deaf: deaf, done: make(chan struct{})}, "")
			}()
			synctest.Wait()
			cancel()
			<-ended
		}
	})
}
