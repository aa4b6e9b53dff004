//go:build unix

package repl

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/repl/desktop"
	"github.com/bb2d0cf4/agent/internal/repl/jobcontrol"
	"github.com/bb2d0cf4/agent/internal/repl/keyboard"
	"github.com/bb2d0cf4/agent/internal/repl/screen"
	"github.com/bb2d0cf4/agent/internal/repl/stream"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// typist is a person at an interface whose clock the test moves. Questions come and go while
// they type.
type typist struct {
	t     *testing.T
	m     *model
	rng   *rand.Rand
	now   time.Time
	asked []*question // open questions
	busy  bool        // the person answers: nothing comes or goes
	last  time.Time   // time of the last typed text
	saw   time.Time   // time at which this panel appeared
	panel any
	line  strings.Builder // typed since the last submission
	log   []string
	fired map[string]int
}

// newTypist starts a person in front of an endless turn.
func newTypist(t *testing.T, m *model, rng *rand.Rand, fired map[string]int) *typist {
	p := &typist{t: t, m: m, rng: rng, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), fired: fired}
	m.opt.Now = func() time.Time { return p.now }
	m.sched.turn.running, m.sched.turn.cancelRun = true, func() {}
	return p
}

func (p *typist) logf(format string, args ...any) {
	p.log = append(p.log, p.now.Format("05.000 ")+fmt.Sprintf(format, args...))
}

func (p *typist) failf(format string, args ...any) {
	p.t.Helper()
	p.t.Fatalf("%s\n%s\nthe prompt: %q", fmt.Sprintf(format, args...), strings.Join(p.log, "\n"), p.m.ed.Text())
}

// update sends a message, and draws a new panel.
func (p *typist) update(msg tea.Msg) {
	p.m.update(msg)
	if p.panel != any(p.m.ask.panel) {
		p.panel, p.saw = p.m.ask.panel, p.now
		p.m.show()
	}
}

// wait lets time pass, in which questions come and go.
func (p *typist) wait(d time.Duration) {
	for end := p.now.Add(d); p.now.Before(end); {
		step := min(end.Sub(p.now), time.Duration(1+p.rng.IntN(300))*time.Millisecond)
		p.now = p.now.Add(step)
		p.update(armedMsg{})
		p.update(aloneMsg{})
		if !p.busy && p.rng.IntN(4) == 0 {
			p.happen()
		}
	}
}

// happen makes a question arrive, end elsewhere, or both.
func (p *typist) happen() {
	n := p.rng.IntN(6)
	if len(p.asked) > 0 && n < 3 {
		i := p.rng.IntN(len(p.asked))
		p.logf("question %s is withdrawn", p.asked[i].req.ID)
		p.update(stream.Update{Items: []any{withdraw{p.asked[i]}}})
		p.asked = slices.Delete(p.asked, i, i+1)
		p.fired["withdrawn"]++
	}
	if n > 1 && len(p.asked) < 3 {
		q := &question{answer: make(chan confirm.Verdict, 1), gone: make(chan struct{}), req: confirm.Request{
			ID: fmt.Sprint(len(p.log)), Tool: "edit_file", Subject: confirm.Edit(workspace.Change{
				File: workspace.File{Name: "a.txt", Exists: true, Text: "one\n"}, After: "two\n",
			}),
		}}
		p.asked = append(p.asked, q)
		p.logf("question %s comes", q.req.ID)
		p.update(stream.Update{Items: []any{q}})
		p.fired["asked"]++
	}
}

// answered returns the answered question and its answer.
func (p *typist) answered() (*question, confirm.Verdict) {
	for _, q := range p.asked {
		select {
		case v := <-q.answer:
			return q, v
		default:
		}
	}
	return nil, confirm.Verdict{}
}

// strike presses a key of a draft, which must not answer.
func (p *typist) strike(key tea.KeyPressMsg) {
	p.logf("types %s", key)
	p.last = p.now
	p.update(key)
	if q, v := p.answered(); q != nil {
		p.failf("%s of a draft answered question %s: %+v", key, q.req.ID, v)
	}
}

func letter(r rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: r, Text: string(r)} }

var (
	enterKey = tea.KeyPressMsg{Code: tea.KeyEnter}
	tabKey   = tea.KeyPressMsg{Code: tea.KeyTab}
	escKey   = tea.KeyPressMsg{Code: tea.KeyEscape}
	clearKey = tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl}
	rightKey = tea.KeyPressMsg{Code: tea.KeyRight}
	stopKey  = tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
)

// rest returns the time between two keys of a typing person.
func (p *typist) rest() time.Duration {
	switch p.rng.IntN(8) {
	case 0:
		return time.Duration(p.rng.IntN(2001)) * time.Millisecond
	case 1:
		return 0
	}
	return time.Duration(30+p.rng.IntN(200)) * time.Millisecond
}

// draft types a line or half of one, at any time. Its second key follows the first at once, in
// an empty prompt; a letter alone would be an answer.
func (p *typist) draft() {
	words := []string{"please also y", "any", "no", "yes", "an apple a day", "see @ma", "pve", "2 of 3", "1 or 2", "go on", "jot it down", "A new one", "n", "a", "c", "1", "3"}
	n := len(words)
	if p.m.ed.Empty() {
		n -= 5
	}
	for _, r := range words[p.rng.IntN(n)] {
		p.strike(letter(r))
		p.line.WriteRune(r)
		odd := p.rng.IntN(40)
		switch h := p.m.strokes.held; {
		case h.moved: // held down, it moves on
			odd = 1 + 3*p.rng.IntN(2) // a paste or nothing
		case h.panel != nil:
			p.fired["held letter"]++
			odd = p.rng.IntN(12) // no completion, no Esc
			if odd > 1 {
				odd = 4
			}
		}
		switch odd {
		case 0: // held down
			for range 5 + p.rng.IntN(30) {
				p.wait(33 * time.Millisecond)
				p.strike(letter(r))
				p.line.WriteRune(r)
			}
			p.fired["held"]++
		case 1:
			p.logf("pastes")
			p.last = p.now
			p.update(tea.PasteMsg{Content: "yes\nan"})
			if q, v := p.answered(); q != nil {
				p.failf("a paste answered %s: %+v", q.req.ID, v)
			}
			p.line.Reset() // it is elsewhere if a comment had the keys
			p.fired["pasted"]++
		case 2: // a completion
			p.wait(time.Duration(p.rng.IntN(300)) * time.Millisecond)
			p.strike(tabKey)
			p.line.Reset()
			p.fired["tab"]++
		case 3:
			if p.m.opt.Terminal.Vi {
				p.strike(escKey)
				p.line.Reset()
				p.fired["vi"]++
			}
		}
		p.kept()
		p.between()
	}
	switch p.rng.IntN(6) {
	case 0, 1:
		p.strike(enterKey)
	case 2:
		p.strike(clearKey)
	case 3:
		p.strike(stopKey)
		p.m.quitAt = time.Time{} // no second Ctrl+C here
	default:
		p.fired["half"]++
		return
	}
	p.line.Reset()
}

// between lets the time between two keys of a draft pass.
func (p *typist) between() {
	rest := p.rest()
	if p.m.strokes.held.panel != nil {
		rest = min(rest, keyboard.Burst-time.Millisecond)
	}
	p.wait(rest)
	if q, v := p.answered(); q != nil {
		p.failf("a draft answered question %s: %+v", q.req.ID, v)
	}
}

// kept checks that the typed line is still there.
func (p *typist) kept() {
	if p.m.strokes.held.panel != nil {
		return
	}
	if p.m.opt.Terminal.Vi || p.line.Len() == 0 {
		p.line.Reset()
		return
	}
	if !strings.Contains(p.m.ed.Text(), p.line.String()) {
		p.failf("%q is lost", p.line.String())
	}
}

// reply answers the question as the screen describes.
func (p *typist) reply() {
	a := p.m.ask
	if a.panel == nil {
		return
	}
	p.busy = true
	defer func() { p.busy = false }()
	if a.panel.PromptHasKeys {
		if p.m.ed.Completing() {
			p.update(escKey)
		}
		p.wait(a.panel.Calm(p.now))
		p.logf("takes the question up")
		p.update(tabKey)
		p.fired["taken up"]++
	} else {
		p.wait(a.panel.Wait(p.now))
	}
	if p.rng.IntN(3) == 0 {
		p.comment()
		return
	}
	q, n := a.q, p.rng.IntN(3)
	how := []string{"letter", "number", "highlight"}[p.rng.IntN(3)]
	p.logf("answers %d by %s", n+1, how)
	switch how {
	case "letter":
		p.update(letter([]rune("yan")[n]))
	case "number":
		p.update(letter([]rune("123")[n]))
	case "highlight":
		for range n + 1 {
			p.update(rightKey)
		}
		p.update(enterKey)
	}
	p.fired[how]++
	p.alone(how == "highlight")
	got, v := p.answered()
	if got != q || (v.Decision == confirm.Approve) != (n < 2) || v.Session != (n == 1) {
		p.failf("%d by %s did not answer question %s: %+v", n+1, how, q.req.ID, v)
	}
	p.asked = slices.DeleteFunc(p.asked, func(q *question) bool { return q == got })
	p.fired["answered"]++
}

// alone lets the time pass in which another key would make text of the last one.
func (p *typist) alone(atOnce bool) {
	if atOnce {
		return
	}
	if p.wait(keyboard.Burst - time.Millisecond); p.m.strokes.held.panel == nil {
		p.failf("the key counted before it was alone")
	}
	p.wait(time.Millisecond)
}

// refuse says no to a question that has just come, before it accepts other answers.
func (p *typist) refuse() {
	a := p.m.ask
	if a.panel == nil || a.panel.PromptHasKeys || a.panel.Wait(p.now) == 0 || !a.panel.Refuses(p.now, p.m.strokes.pressed) {
		return
	}
	p.busy = true
	defer func() { p.busy = false }()
	q := a.q
	p.logf("refuses at once")
	p.update(letter([]rune("n3")[p.rng.IntN(2)]))
	p.alone(false)
	got, v := p.answered()
	if got != q || v.Decision != confirm.Reject {
		p.failf("an early no did not answer question %s: %+v", q.req.ID, v)
	}
	p.asked = slices.DeleteFunc(p.asked, func(q *question) bool { return q == got })
	p.fired["early no"]++
}

// habit presses the keys that send a prompt, or begins one with a letter that means nothing
// here, without looking at the screen.
func (p *typist) habit() {
	p.busy = true
	defer func() { p.busy = false }()
	switch p.rng.IntN(3) {
	case 0:
		for range 1 + p.rng.IntN(3) {
			p.strike(enterKey)
			p.wait(p.rest())
		}
	case 1: // the last prompt once more
		p.strike(tea.KeyPressMsg{Code: tea.KeyUp})
		p.wait(p.rest())
		p.strike(enterKey)
	case 2:
		for _, r := range "use 1 or 2, any" {
			p.strike(letter(r))
			p.wait(time.Duration(30+p.rng.IntN(200)) * time.Millisecond)
		}
		if !p.m.opt.Terminal.Vi && !strings.Contains(p.m.ed.Text(), "use 1 or 2, any") {
			p.failf("the beginning of the prompt is lost")
		}
		p.strike(enterKey)
	}
	p.line.Reset()
	p.last = time.Time{} // finished typing
	p.fired["habit"]++
}

// comment types a comment, which arriving and leaving questions do not end.
func (p *typist) comment() {
	a := p.m.ask
	q := a.q
	p.logf("comments")
	p.update(letter('c'))
	p.alone(false)
	p.busy = p.rng.IntN(2) == 0 // otherwise anything may happen to the question
	p.line.Reset()
	for _, r := range "nay, a better one" {
		p.strike(letter(r))
		p.wait(p.rest())
	}
	if note := p.note(); p.busy || a.q == q && note != "" {
		p.update(enterKey)
		got, v := p.answered()
		if got != q || v.Feedback != "nay, a better one" {
			p.failf("the comment %q did not answer %s: %+v", note, q.req.ID, v)
		}
		p.asked = slices.DeleteFunc(p.asked, func(q *question) bool { return q == got })
		p.last = time.Time{} // finished typing
		p.fired["commented"]++
		return
	}
	if !p.m.opt.Terminal.Vi && !strings.Contains(p.m.ed.Text(), "nay, a better one") {
		p.failf("the comment is lost")
	}
	p.fired["comment kept"]++
}

func (p *typist) note() string {
	if p.m.ask.panel == nil {
		return ""
	}
	if note, _ := p.m.ask.panel.Note(); note != nil {
		return note.Text()
	}
	return ""
}

// Whatever comes and goes, a key typed as part of a draft never answers, and one meant for
// the question always does.
func TestRandomTyping(t *testing.T) {
	t.Parallel()
	cases := 150
	if os.Getenv("AGENT_TEST_FULL") != "" {
		cases = 10_000
	}
	term := ptytest.New(t, vt.Options{Width: 80, Height: 24})
	env := []string{"TERM=xterm-256color"}
	scr, err := screen.Open(screen.Options{In: term.TTY(), Out: term.TTY(), Env: env})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := scr.Close(); err != nil {
			t.Error(err)
		}
	}()
	fired := map[string]int{}
	for seed := range cases {
		rng := rand.New(rand.NewPCG(uint64(seed), 13))
		u := New(Options{Terminal: Terminal{In: term.TTY(), Out: term.TTY(), Env: env, Theme: "none", Vi: seed%4 == 0}, Files: func(string) []string { return []string{"main.go"} }})
		around := window{scr, desktop.New(desktop.Options{}), jobcontrol.Catch(), u.opt.Now}
		m := u.newModel(around, nil, func(func(context.Context)) context.CancelFunc { return func() {} })
		p := newTypist(t, m, rng, fired)
		p.logf("case %d", seed)
		m.opt.Terminal.Vi = seed%4 == 0
		p.update(armedMsg{})
		for range 12 {
			p.wait(time.Duration(rng.IntN(2000)) * time.Millisecond)
			switch rng.IntN(6) {
			case 0, 1:
				p.reply()
			case 2:
				p.habit()
			case 3:
				p.refuse()
			default:
				p.draft()
			}
		}
		around.sigs.Release()
	}
	for _, what := range []string{"asked", "withdrawn", "held", "pasted", "tab", "vi", "half", "taken up", "habit", "letter", "number", "highlight", "answered", "commented", "comment kept", "held letter", "early no"} {
		if fired[what] < cases/50 {
			t.Errorf("%s: %d times in %d cases", what, fired[what], cases)
		}
	}
	t.Log(fired)
}
