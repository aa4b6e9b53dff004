package desktop

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// told is how a terminal shows the output of a Desktop.
type told struct {
	*Desktop
	term *vt.Terminal
}

func tell(t *testing.T, o Options) *told {
	t.Helper()
	if o.Dir == "" {
		o.Dir = "/home/me/project"
	}
	tt := &told{New(o), vt.New(vt.Options{})}
	tt.write(tt.Enter())
	return tt
}

func (t *told) write(s string) { fmt.Fprint(t.term, s) }

func (t *told) show(s State, what string, seconds int) {
	t.write(t.Show(s, what, at(seconds)))
}

func TestTitleFollowsAndIsTakenBack(t *testing.T) {
	d := tell(t, Options{Title: true, Notify: "off"})
	for state, want := range []string{"agent · project", "agent · project · working", "agent · project · waiting for you"} {
		d.show(State(state), "", state)
		if got := d.term.Stats().Title; got != want {
			t.Errorf("state %d: title %q, want %q", state, got, want)
		}
		bytes := d.term.Stats().Bytes
		d.show(State(state), "", state)
		if d.term.Stats().Bytes != bytes {
			t.Error("the same title was said twice")
		}
	}
	d.write(d.Leave())
	if d.term.Stats().Title != "" || d.term.Modes() != (vt.Modes{}) {
		t.Errorf("left behind: %q, %+v", d.term.Stats().Title, d.term.Modes())
	}
	d.write(d.Enter())
	d.show(Idle, "", 9)
	if got := d.term.Stats().Title; got != "agent · project" {
		t.Errorf("after the terminal was given away: %q", got)
	}
}

// A person who is away is notified by the terminal's own means.
func TestNotifications(t *testing.T) {
	const waits, done = "agent · project is waiting for your answer: edit a;b.go", "agent · project is done"
	tests := []struct {
		name  string
		env   []string
		opt   string
		do    func(d *told)
		want  []string
		bells int
	}{
		{name: "a question, out of focus", opt: "osc9", do: func(d *told) {
			d.Focus(false)
			d.show(Working, "", 0)
			d.show(Waiting, "edit a;b.go", 1)
			d.show(Waiting, "edit a;b.go", 200)
		}, want: []string{waits}},
		{name: "a question, in focus", opt: "osc9", do: func(d *told) {
			d.Focus(true)
			d.show(Working, "", 0)
			d.show(Waiting, "edit a;b.go", 60)
			d.show(Waiting, "edit a;b.go", 120)
		}},
		{name: "turned away later", opt: "osc9", do: func(d *told) {
			d.Focus(true)
			d.show(Waiting, "edit a;b.go", 1)
			d.Focus(false)
			d.show(Waiting, "edit a;b.go", 2)
		}, want: []string{waits}},
		{name: "focus not known, keys just pressed", opt: "osc9", do: func(d *told) {
			d.Key(at(0))
			d.show(Waiting, "edit a;b.go", 9)
		}},
		{name: "focus not known, no keys for long", opt: "osc9", do: func(d *told) {
			d.Key(at(0))
			d.show(Waiting, "edit a;b.go", 9)
			d.show(Waiting, "edit a;b.go", 10)
		}, want: []string{waits}},
		{name: "a long turn", opt: "osc9", do: func(d *told) {
			d.Focus(false)
			d.show(Working, "", 0)
			d.show(Idle, "", 10)
		}, want: []string{done}},
		{name: "a short turn", opt: "osc9", do: func(d *told) {
			d.Focus(false)
			d.show(Working, "", 0)
			d.show(Idle, "", 9)
		}},
		{name: "answered before it was time", opt: "osc9", do: func(d *told) {
			d.Focus(false)
			d.show(Waiting, "one", 0)
			d.show(Working, "", 1)
			d.show(Waiting, "two", 2) // too soon after the first
			d.show(Working, "", 3)    // answered elsewhere
			d.show(Working, "", 90)
		}, want: []string{"agent · project is waiting for your answer: one"}},
		{name: "said when it is time", opt: "osc9", do: func(d *told) {
			d.Focus(false)
			d.show(Waiting, "one", 0)
			d.show(Working, "", 1)
			d.show(Waiting, "two", 2)
			d.show(Waiting, "two", 29)
			d.show(Waiting, "two", 30)
		}, want: []string{"agent · project is waiting for your answer: one", "agent · project is waiting for your answer: two"}},
		{name: "a key says that somebody is there", opt: "osc9", do: func(d *told) {
			d.Focus(false)
			d.Key(at(0))
			d.show(Waiting, "edit a;b.go", 1)
		}},
		{name: "off", opt: "off", do: func(d *told) {
			d.Focus(false)
			d.show(Waiting, "edit a;b.go", 0)
		}},
		{name: "urxvt", env: []string{"TERM=rxvt-unicode-256color"}, opt: "auto", do: func(d *told) {
			d.Focus(false)
			d.show(Waiting, "edit a;b.go", 0)
		}, want: []string{"notify;agent;project is waiting for your answer: edit a,b.go"}},
		{name: "tmux in iTerm", env: []string{"TMUX=1", "TERM=tmux-256color", "TERM_PROGRAM=tmux", "LC_TERMINAL=iTerm2"}, do: func(d *told) {
			d.Focus(false)
			d.show(Waiting, "edit a;b.go", 0)
		}, want: []string{waits}},
		{name: "any other", env: []string{"TERM=xterm-256color"}, do: func(d *told) {
			d.Focus(false)
			d.show(Waiting, "edit a;b.go", 0)
		}, bells: 1},
	}
	for _, tt := range tests {
		d := tell(t, Options{Notify: tt.opt, Env: tt.env})
		if d.term.Modes().Focus == (tt.opt == "off") {
			t.Errorf("%s: focus is reported: %v", tt.name, d.term.Modes().Focus)
		}
		tt.do(d)
		st := d.term.Stats()
		if diff := cmp.Diff(tt.want, st.Notices); diff != "" || st.Bells != tt.bells || st.Unknown != nil {
			t.Errorf("%s: %d bells, unknown %q, notices:\n%s", tt.name, st.Bells, st.Unknown, diff)
		}
		d.write(d.Leave())
		if d.term.Modes() != (vt.Modes{}) {
			t.Errorf("%s: left behind %+v", tt.name, d.term.Modes())
		}
	}
}

func TestProgress(t *testing.T) {
	for env, want := range map[string]bool{
		"WT_SESSION=1": true, "ConEmuANSI=ON": true, "TERM_PROGRAM=ghostty": true,
		"TERM_PROGRAM=iTerm.app TERM_PROGRAM_VERSION=3.6.6": true, "TERM_PROGRAM=iTerm.app TERM_PROGRAM_VERSION=3.10": true,
		"TERM_PROGRAM=iTerm.app TERM_PROGRAM_VERSION=3.5.14": false, "TERM_PROGRAM=iTerm.app": false,
		"TERM=xterm-256color": false, "TERM_PROGRAM=vscode": false, "WT_SESSION=1 TMUX=1": false, "WT_SESSION=1 TERM=linux": false,
	} {
		d := tell(t, Options{Progress: true, Notify: "off", Env: strings.Fields(env)})
		d.show(Working, "", 0)
		if got := d.term.Modes().Progress != ""; got != want {
			t.Errorf("%s: progress shown: %v", env, got)
		}
	}
	d := tell(t, Options{Progress: true, Notify: "off", Env: []string{"WT_SESSION=1"}})
	d.show(Working, "", 0)
	bytes := d.term.Stats().Bytes
	d.show(Working, "", 9)
	if d.term.Stats().Bytes != bytes {
		t.Error("said again too soon")
	}
	d.show(Working, "", 10)
	if d.term.Stats().Bytes == bytes {
		t.Error("not said again before the terminal forgets it")
	}
	d.show(Waiting, "", 11)
	if got := d.term.Modes().Progress; got != "4;100" {
		t.Errorf("a question waits: %q", got)
	}
	d.show(Idle, "", 12)
	if got := d.term.Modes().Progress; got != "" {
		t.Errorf("idle: %q", got)
	}
	d.show(Working, "", 13)
	d.write(d.Leave())
	if d.term.Modes() != (vt.Modes{}) {
		t.Errorf("left behind: %+v", d.term.Modes())
	}
}

// No name of a folder or call ends a sequence, and no two notifications follow within the
// pause.
func TestNamesAreSafe(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.StringOf(rapid.RuneFrom([]rune("ab;\x1b\a\n\u009c\u202e/漢"))).Draw(rt, "name")
		notify := rapid.SampledFrom([]string{"osc9", "osc777"}).Draw(rt, "notify")
		var env []string
		if rapid.Bool().Draw(rt, "tmux") {
			env = []string{"TMUX=1"}
		}
		d := tell(t, Options{Dir: "/x/" + name, Title: true, Notify: notify, Env: env})
		d.Focus(false)
		last, now := -1000, 0
		for range 8 {
			now += rapid.IntRange(0, 20).Draw(rt, "seconds")
			before := len(d.term.Stats().Notices)
			d.show(State(rapid.IntRange(0, 2).Draw(rt, "state")), name, now)
			if len(d.term.Stats().Notices) > before {
				if now-last < 30 {
					rt.Fatalf("called %d s after the last time", now-last)
				}
				last = now
			}
		}
		st := d.term.Stats()
		if d.term.String() != "" || st.Unknown != nil || st.Bells != 0 || strings.ContainsFunc(st.Title+strings.Join(st.Notices, ""), func(r rune) bool {
			return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e'
		}) {
			rt.Fatalf("screen %q, unknown %q, title %q, notices %q", d.term.String(), st.Unknown, st.Title, st.Notices)
		}
	})
}
