// Package desktop says outside of the terminal's text what the program does: in the
// title of the window, in the progress of its tab and, to a person who has turned
// away, with a notification. It guarantees that nothing but its own words and what
// it was given, made safe, is in them, that a person is told of a thing once and of
// things at most every half a minute, and that Leave takes back all that was set.
//
// It writes nothing: what it returns is for the terminal (screen.Screen.Send).
package desktop

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

const (
	// long is how long a turn takes whose end is worth a notification.
	long = 10 * time.Second
	// away is how long no key was pressed by a person who is thought to be away, in
	// terminals that do not say whether they are in focus.
	away = 10 * time.Second
	// pause is the shortest time between two notifications.
	pause = 30 * time.Second
	// again is when the progress is said again: some terminals forget it after 15 s.
	again = 10 * time.Second
	// maxText is how much of a text is shown, in columns.
	maxText = 120
)

// Options says what to tell, and to which terminal.
type Options struct {
	Notify   string // auto, osc9, osc777, bell or off
	Title    bool
	Progress bool // where the terminal is known to show it
	Dir      string
	Env      []string // "KEY=value", of the terminal
}

// State is what the program does.
type State int

// The states.
const (
	Idle    State = iota // it waits for a prompt
	Working              // a turn runs
	Waiting              // a question stands
)

// Desktop is what was said so far. It belongs to one goroutine.
type Desktop struct {
	opt  Options
	env  map[string]string
	name string // of the folder

	state   State
	since   time.Time // of the turn
	title   string
	percent progress
	focus   focus
	notice  notice
}

type progress struct {
	state string
	at    time.Time
}

type focus struct {
	known, away bool
	key         time.Time // the last one
}

// notice is one that waits to be said, and when the last one was.
type notice struct {
	text string
	at   time.Time
}

// New returns a Desktop that has said nothing.
func New(o Options) *Desktop {
	d := &Desktop{opt: o, env: map[string]string{}, name: clip(filepath.Base(o.Dir))}
	for _, kv := range o.Env {
		if k, v, ok := strings.Cut(kv, "="); ok {
			d.env[k] = v
		}
	}
	if d.env["TERM"] == "linux" {
		d.opt.Title, d.opt.Progress = false, false
	}
	if d.opt.Notify == "" || d.opt.Notify == "auto" {
		d.opt.Notify = d.method()
	}
	d.opt.Progress = d.opt.Progress && d.showsProgress()
	return d
}

// Enter returns what begins the program's time on the terminal: reports of the
// focus are asked for, and the title is kept. It is to be written whenever the
// terminal is taken, and Leave when it is given back; all is said anew then.
func (d *Desktop) Enter() string {
	d.title, d.percent = "", progress{}
	out := ""
	if d.opt.Notify != "off" {
		out += "\x1b[?1004h"
	}
	if d.opt.Title {
		out += "\x1b[22;2t"
	}
	return out
}

// Leave returns what takes everything back, whatever was said. It may be called from
// any goroutine.
func (d *Desktop) Leave() string {
	out := ""
	if d.opt.Progress {
		out += d.wrapped(progressOf(""))
	}
	if d.opt.Title {
		out += "\x1b]2;\x1b\\" + "\x1b[23;2t" // a terminal that keeps no titles has none then
	}
	if d.opt.Notify != "off" {
		out += "\x1b[?1004l"
	}
	return out
}

// Focus takes a report of the terminal.
func (d *Desktop) Focus(in bool) { d.focus.known, d.focus.away = true, !in }

// Key takes note that a person is there.
func (d *Desktop) Key(now time.Time) {
	d.focus.key, d.notice.text = now, ""
	if d.focus.known {
		d.focus.away = false // a key comes to a terminal in focus
	}
}

// Show returns what is to be said in a state. what is what a question is about. It
// is to be called for every frame: a notification may have to wait for its time.
func (d *Desktop) Show(s State, what string, now time.Time) string {
	d.change(s, what, now)
	return d.showTitle() + d.showProgress(now) + d.showNotice(now)
}

// change notes what a person may want to know of.
func (d *Desktop) change(s State, what string, now time.Time) {
	before := d.state
	d.state = s
	if before == s {
		return
	}
	d.notice.text = "" // what it was about is over
	switch {
	case s == Waiting:
		d.notice.text = "waits for your answer: " + clip(what)
	case s == Idle && now.Sub(d.since) >= long:
		d.notice.text = "is done"
	}
	if before == Idle {
		d.since = now
	}
}

func (d *Desktop) showTitle() string {
	if !d.opt.Title {
		return ""
	}
	title := "agent · " + d.name + map[State]string{Working: " · working", Waiting: " · waiting for you"}[d.state]
	if title == d.title {
		return ""
	}
	d.title = title
	return "\x1b]2;" + title + "\x1b\\"
}

func (d *Desktop) showProgress(now time.Time) string {
	state := map[State]string{Working: "3", Waiting: "4;100"}[d.state]
	if !d.opt.Progress || state == d.percent.state && (state == "" || now.Sub(d.percent.at) < again) {
		return ""
	}
	d.percent = progress{state, now}
	return d.wrapped(progressOf(state))
}

func progressOf(state string) string {
	if state == "" {
		state = "0"
	}
	return "\x1b]9;4;" + state + "\x1b\\"
}

// showNotice says what waits to be said, if there is anybody to be called.
func (d *Desktop) showNotice(now time.Time) string {
	if d.notice.text == "" || !d.isAway(now) || !d.notice.at.IsZero() && now.Sub(d.notice.at) < pause {
		return ""
	}
	text := d.notice.text
	d.notice = notice{at: now}
	body := "agent · " + d.name + " " + text
	switch d.opt.Notify {
	case "osc9":
		return d.wrapped("\x1b]9;" + body + "\x1b\\")
	case "osc777":
		return d.wrapped("\x1b]777;notify;agent;" + strings.ReplaceAll(d.name+" "+text, ";", ",") + "\x1b\\")
	case "bell":
		return "\a"
	}
	return ""
}

func (d *Desktop) isAway(now time.Time) bool {
	if d.focus.known {
		return d.focus.away
	}
	return !d.focus.key.IsZero() && now.Sub(d.focus.key) >= away
}

// clip makes a text one safe line that is not too long.
func clip(text string) string {
	return ansi.Truncate(sanitize.Line(strings.Join(strings.Fields(text), " ")), maxText, "…")
}
