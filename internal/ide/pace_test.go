package ide

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// TestPace: whatever happens to the attempts, there are at most ten in any minute,
// the first wait is short and none is longer than half a minute, jitter and limit
// aside.
func TestPace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := pace{jitter: func() float64 { return rapid.Float64Range(0, 0.999).Draw(t, "jitter") }}
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		var dials []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if rapid.IntRange(0, 3).Draw(t, "stood") == 0 {
				p.reset()
			}
			if rapid.Bool().Draw(t, "found") {
				p.dialled(now)
				dials = append(dials, now)
			}
			p.failed()
			wait := p.wait(now, longest)
			if wait < 400*time.Millisecond || wait > time.Minute {
				t.Fatalf("waits %v", wait)
			}
			if n := len(dials); n > mostDials && dials[n-1].Sub(dials[n-1-mostDials]) < time.Minute {
				t.Fatalf("eleven dials within %v", dials[n-1].Sub(dials[n-1-mostDials]))
			}
			now = now.Add(wait)
		}
	})
}

func TestWaitsGrow(t *testing.T) {
	t.Parallel()
	p := pace{jitter: func() float64 { return 0.5 }}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var got []time.Duration
	for range 9 {
		p.failed()
		got = append(got, p.wait(now, longest))
	}
	want := []int64{500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000}
	for i, w := range want {
		if got[i].Milliseconds() != w {
			t.Errorf("wait %d is %v", i, got[i])
		}
	}
	p.reset()
	p.failed()
	if got := p.wait(now, longest); got != firstWait {
		t.Errorf("after a reset: %v", got)
	}
}

// TestLooksForALateEditor: an editor that opens long after the start is found at once.
func TestLooksForALateEditor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var last, longestGap time.Duration
		start := time.Now()
		dir := t.TempDir()
		b := New(Options{Auto: true, Search: lock.Search{
			Folder: dir, Home: dir, Dir: dir, Env: func(string) string { return "" },
			Ancestors: func() []int {
				now := time.Since(start)
				longestGap, last = max(longestGap, now-last), now
				return nil
			},
		}})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		b.Run(ctx)
		if last < 9*time.Minute || longestGap > lookAgain*11/10 {
			t.Errorf("looked until %v, at the longest after %v", last, longestGap)
		}
	})
}

// TestNap: only the time that timers did not see counts as sleep.
func TestNap(t *testing.T) {
	t.Parallel()
	wall := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := New(Options{Clock: Clock{Wall: func() time.Time { return wall }}})
	n := b.newNap()
	wall = wall.Add(10 * time.Second)
	if n.slept() {
		t.Error("ten seconds are a nap")
	}
	wall = wall.Add(time.Hour)
	if !n.slept() {
		t.Error("an hour is none")
	}
	wall = wall.Add(-2 * time.Hour)
	if n.slept() {
		t.Error("a clock that was put back is a nap")
	}
}

// TestAim: an editor that a person chose is found again by its name and folders after a
// restart, and no other editor replaces it.
func TestAim(t *testing.T) {
	t.Parallel()
	editor := func(path, name, folder string) lock.Candidate {
		return lock.Candidate{Path: path, Usable: true, Auto: true, File: lock.File{Name: name, Folders: []string{folder}, Token: "t"}}
	}
	a := aim{kind: chosen, path: "1"}
	a.remember(editor("1", "Code", "/p"))
	for name, tt := range map[string]struct {
		found []lock.Candidate
		want  string
	}{
		"same":      {[]lock.Candidate{editor("2", "Code", "/p"), editor("1", "Code", "/p")}, "1"},
		"restarted": {[]lock.Candidate{editor("3", "Vim", "/p"), editor("2", "Code", "/p")}, "2"},
		"gone":      {[]lock.Candidate{editor("3", "Vim", "/p"), editor("4", "Code", "/q")}, ""},
	} {
		if c, _ := a.choose(tt.found, nil); c.Path != tt.want {
			t.Errorf("%s: %q", name, c.Path)
		}
	}
	refused := map[run]int{{"1", "t"}: mostRefused}
	if c, ok := (aim{kind: best}).choose([]lock.Candidate{editor("1", "Code", "/p")}, refused); ok {
		t.Errorf("chose %q, which refuses its token", c.Path)
	}
}

// TestAloneWithoutAnEditor: if nobody else can be asked, or no longer can, and the
// editor never came or does not come back, nobody decides.
func TestAloneWithoutAnEditor(t *testing.T) {
	t.Parallel()
	const thinks = time.Minute
	for _, tt := range []struct {
		lost, terminal bool
		want           time.Duration
	}{
		{false, false, 0},
		{true, false, reconnectWait},
		{false, true, thinks},
		{true, true, thinks + reconnectWait},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := New(Options{Diffs: true})
			if tt.lost {
				b.links.set(&link{})
				b.links.set(nil)
			}
			start := time.Now()
			c := confirm.NewController(nil, b.Reviewer)
			if tt.terminal {
				c.Attach(leaves{after: thinks})
			}
			v, err := c.Ask(t.Context(), confirm.Request{Subject: confirm.Edit(workspace.Change{After: "x"})})
			if err != nil || !v.Unasked || v.Decision != confirm.Reject || time.Since(start) != tt.want {
				t.Errorf("%+v: %+v, %v after %v", tt, v, err, time.Since(start))
			}
		})
	}
}

// leaves is a terminal whose input ends while it is asked.
type leaves struct{ after time.Duration }

func (l leaves) Review(ctx context.Context, _ confirm.Request) (confirm.Verdict, error) {
	select {
	case <-time.After(l.after):
	case <-ctx.Done():
	}
	return confirm.Verdict{}, confirm.ErrUndecided
}

// TestWake: after a sleep a dead link is replaced, a living one stays, and without a
// link the search begins at once.
func TestWake(t *testing.T) {
	t.Parallel()
	e := idetest.Start(t, idetest.Ours())
	dir := t.TempDir()
	e.WriteLock(dir, dir)
	b := New(Options{Search: lock.Search{Folder: dir, Dir: dir}})
	from, ok := lock.Choice(b.Candidates(t.Context()))
	if !ok {
		t.Fatal("the editor was not found")
	}
	l, err := b.dial(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	k := &keeper{b: b, link: l, pace: pace{jitter: b.opt.Clock.Jitter}, retry: time.NewTimer(time.Hour)}
	defer k.end(t.Context())
	k.wake(t.Context())
	k.work.Wait()
	if err := l.client.Err(); err != nil {
		t.Errorf("a living link was given up: %v", err)
	}
	e.Handle("ping", func(*idetest.Conn, json.RawMessage) idetest.Reply { return idetest.Reply{Silent: true} })
	k.wake(t.Context())
	<-l.client.Done()
	k.drop()
	k.wake(t.Context())
	if k.try != nil {
		t.Error("looks for an editor although nobody wants one")
	}
	k.aim = aim{kind: best}
	k.wake(t.Context())
	if k.try == nil {
		t.Error("does not look for an editor")
	}
}
