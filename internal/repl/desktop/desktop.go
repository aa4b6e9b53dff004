// Package desktop shows the activity of the program outside the terminal's text: in the
// window's title, in the tab's progress and, if the person is away, in a notification. It
// guarantees that only its own words and sanitized input appear there, that it notifies once
// per event and at most every half minute, and that Leave undoes everything.
//
// It writes nothing itself: send the strings that it returns to the terminal
// (screen.Screen.Send).
package desktop

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

const (
	// long is the duration of a turn that makes its end worth a notification.
	long = 10 * time.Second
	// away is the time without a key after which the person counts as away, in terminals that
	// do not report focus.
	away = 10 * time.Second
	// pause is the minimum time between notifications.
	pause = 30 * time.Second
	// again is the interval for repeating the progress: some terminals forget it after 15 s.
	again = 10 * time.Second
	// maxText is the maximum length of a text, in columns.
	maxText = 120
)

// Options configures a Desktop.
type Options struct {
	Notify   string // auto, osc9, osc777, bell or off
	Title    bool
	Progress bool // if the terminal is known to show it
	Dir      string
	Env      []string // "KEY=value", of the terminal
}

// State is the activity of the program.
type State int

// The states.
const (
	Idle    State = iota // waits for a prompt
	Working              // runs a turn
	Waiting              // waits for an answer
)

// Desktop tracks the state of the terminal window. It is not safe for concurrent use.
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

// notice is a pending notification and the time of the last one.
type notice struct {
	text string
	at   time.Time
}

// New returns a Desktop.
func New(o Options) *Desktop {
	d := &Desktop{opt: o, env: map[string]string{}, name: short(filepath.Base(o.Dir))}
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

// Enter returns the sequences that request focus reports and save the title. Write them each
// time the terminal is taken, and those of Leave when it is given back; Show then starts
// afresh.
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

// Leave returns the sequences that undo everything. It is safe for concurrent use.
func (d *Desktop) Leave() string {
	out := ""
	if d.opt.Progress {
		out += d.wrapped(progressOf(""))
	}
	if d.opt.Title {
		out += "\x1b]2;\x1b\\" + "\x1b[23;2t" // a terminal that does not save titles loses its title
	}
	if d.opt.Notify != "off" {
		out += "\x1b[?1004l"
	}
	return out
}

// Focus handles a focus report of the terminal.
func (d *Desktop) Focus(in bool) { d.focus.known, d.focus.away = true, !in }

// Key records that the person is present.
func (d *Desktop) Key(now time.Time) {
	d.focus.key, d.notice.text = now, ""
	if d.focus.known {
		d.focus.away = false // keys arrive only in focus
	}
}

// Show returns the sequences for a state; what names the subject of a question. Call it for
// every frame, because a notification may be delayed.
func (d *Desktop) Show(s State, what string, now time.Time) string {
	d.change(s, what, now)
	return d.showTitle() + d.showProgress(now) + d.showNotice(now)
}

// change records events worth a notification.
func (d *Desktop) change(s State, what string, now time.Time) {
	before := d.state
	d.state = s
	if before == s {
		return
	}
	d.notice.text = "" // it is out of date
	switch {
	case s == Waiting:
		d.notice.text = "is waiting for your answer: " + short(what)
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

// showNotice returns the pending notification if the person is away.
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

// short turns a text into one safe line of limited length.
func short(text string) string {
	return cells.Truncate(sanitize.Line(clip.Line(text)), maxText, "…")
}
