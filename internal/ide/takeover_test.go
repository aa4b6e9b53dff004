package ide_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/ide"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// desk is one editor with two agents, each of which edits a file of its own.
type desk struct {
	*testing.T
	random  *rand.Rand
	editor  *idetest.Editor
	locks   string
	lock    string
	agents  [2]*agent
	diffs   []*idetest.Diff
	counted map[string]int    // the steps so far
	shown   map[string]string // the file of each text, as proposed and as edited
	texts   int
}

// agent edits a file. person is its terminal's answer to a text that replaces its
// proposal.
type agent struct {
	*desk
	file    string
	bridge  *ide.Bridge
	control *confirm.Controller
	conn    *idetest.Conn // the editor's end of the link
	die     func()        // without a word to the editor
	over    chan outcome
	give    context.CancelFunc // up the question
	asking  bool

	mu    sync.Mutex
	first string // the proposal
}

// Review implements confirm.Reviewer: the person at the terminal leaves the proposal to the
// editor, and takes another text if it is one of the file.
func (a *agent) Review(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	a.mu.Lock()
	first := a.first
	a.mu.Unlock()
	if req.File().After != first {
		if strings.Contains(req.File().After, a.file) {
			return confirm.Verdict{Decision: confirm.Approve, By: "terminal"}, nil
		}
		return confirm.Verdict{By: "terminal"}, nil
	}
	<-ctx.Done()
	return confirm.Verdict{}, ctx.Err()
}

// start starts an agent, and links it.
func (d *desk) start(i int) {
	d.Helper()
	a := &agent{desk: d, file: string(rune('a'+i)) + ".txt", over: make(chan outcome, 1)}
	a.bridge = ide.New(ide.Options{
		Search: lock.Search{
			Folder: d.locks, Home: filepath.Dir(filepath.Dir(d.locks)), Dir: d.locks,
			Env: func(string) string { return "" }, Ancestors: func() []int { return nil },
		},
		Connect: client.Options{Version: "test"}, Diffs: true,
	})
	a.control = confirm.NewController(nil, a.bridge.Reviewer, a)
	ctx, cancel := context.WithCancel(d.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.bridge.Run(ctx)
	}()
	a.die = func() {
		a.conn.Cut() // before the agent can close its diff
		if a.asking {
			a.give()
			a.settle()
		}
		cancel()
		<-ended
	}
	d.agents[i] = a
	a.link()
}

func (a *agent) link() {
	a.Helper()
	ctx, cancel := context.WithTimeout(a.Context(), patience)
	defer cancel()
	before := a.editor.Conns()
	for err := a.bridge.Connect(ctx, a.lock); err != nil; err = a.bridge.Connect(ctx, a.lock) {
		if ctx.Err() != nil || !strings.Contains(err.Error(), "another client connected") {
			a.Fatal(err)
		}
		a.counted["lost to the other agent"]++ // which connected at the same time
	}
	for _, c := range a.editor.Conns() {
		if !slices.Contains(before, c) {
			a.conn = c
		}
	}
}

// text returns a new text of the agent's file, most of which is as before.
func (a *agent) text() string {
	a.texts++
	var b strings.Builder
	fmt.Fprintf(&b, "// Copyright\n{\n\n")
	for i := range 5 {
		fmt.Fprintf(&b, "line %d of %s\n", i, a.file)
	}
	fmt.Fprintf(&b, "}\nversion %d of %s\n", a.texts, a.file)
	return b.String()
}

func (a *agent) ask() {
	ctx, cancel := context.WithCancel(a.Context())
	a.give, a.asking = cancel, true
	text := a.text()
	a.mu.Lock()
	a.first = text
	a.mu.Unlock()
	a.shown[text], a.shown[edited(text)] = a.file, a.file
	req := confirm.Request{Tool: "edit_file", Subject: confirm.Edit(workspace.Change{
		File:  workspace.File{Path: filepath.Join(a.locks, a.file), Name: a.file, Exists: true, Text: "line 1 of " + a.file + "\n"},
		After: text,
	})}
	go func() {
		v, err := a.control.Ask(ctx, req)
		if v.Decision == confirm.Approve && v.Edited() == nil {
			v.Texts = confirm.Text(text)
		}
		a.over <- outcome{v, err}
	}()
}

// settle waits for the end of the question and checks the text to be written.
func (a *agent) settle() {
	a.Helper()
	var o outcome
	select {
	case o = <-a.over:
	case <-time.After(patience):
		a.Fatal("no verdict")
	}
	a.give()
	a.asking = false
	if o.err == nil && o.Decision == confirm.Approve {
		a.counted["written"]++
		if a.shown[*o.Edited()] != a.file {
			a.Fatalf("%s is to hold %q, which was shown for %q", a.file, *o.Edited(), a.shown[*o.Edited()])
		}
	}
}

// done notes whether the question ends by itself within a moment.
func (a *agent) done(moment time.Duration) {
	select {
	case o := <-a.over:
		a.over <- o
		a.settle()
	case <-time.After(moment):
	}
}

// act does something at random.
func (d *desk) act() {
	for more := true; more; {
		select {
		case diff := <-d.editor.Shown:
			d.diffs = append(d.diffs, diff)
		default:
			more = false
		}
	}
	a := d.agents[d.random.IntN(2)]
	if a.asking {
		a.done(0)
	}
	switch n := d.random.IntN(12); {
	case n < 4 && !a.asking:
		d.counted["asked"]++
		if a.bridge.Status().State != ide.Connected {
			a.link() // it was cut off
		}
		a.ask()
		select { // another link may keep the diff from being shown
		case diff := <-d.editor.Shown:
			d.diffs = append(d.diffs, diff)
		case <-time.After(30 * time.Millisecond):
		}
	case n == 4 && d.random.IntN(2) == 0:
		d.counted["died"]++
		i := 0
		if a == d.agents[1] {
			i = 1
		}
		a.die()
		d.start(i)
	case n == 5 && d.random.IntN(2) == 0:
		d.counted["linked again"]++
		a.link()
	case len(d.diffs) > 0:
		d.answer(d.diffs[len(d.diffs)-1-d.random.IntN(min(3, len(d.diffs)))])
		if a.asking && d.random.IntN(2) == 0 {
			a.done(10 * time.Millisecond)
		}
	}
}

// edited returns a text as a person edits it in the editor.
func edited(text string) string {
	return strings.Replace(text, "line 2", "line two, by hand,", 1)
}

// answer has the editor answer for a diff, whether it is open or not, and whatever it
// has answered before.
func (d *desk) answer(diff *idetest.Diff) {
	other := d.diffs[len(d.diffs)-1-d.random.IntN(min(3, len(d.diffs)))]
	ours := d.editor.Dialect.Ours
	switch n := d.random.IntN(7); {
	case n == 0:
		d.counted["accepted"]++
		diff.Accept()
	case n == 1:
		d.counted["edited"]++
		diff.Edit(edited(diff.Text))
		diff.Accept()
	case n == 2:
		d.counted["rejected"]++
		diff.Reject()
	case n == 3:
		d.counted["answered twice"]++
		diff.Accept()
		diff.Reject()
		diff.Accept()
	case ours: // it names the question in each answer
		diff.Dismiss()
	case n == 4:
		d.counted["answered under another number"]++
		diff.AnswerAs(other.Number(), idetest.Text("FILE_SAVED", diff.Text))
	case n == 5:
		d.counted["edited, answered under another number"]++
		diff.AnswerAs(other.Number(), idetest.Text("FILE_SAVED", edited(diff.Text)))
	default:
		d.counted["rejected under another number"]++
		diff.AnswerAs(other.Number(), idetest.Text("DIFF_REJECTED", diff.Tab))
	}
}

// TestTwoAgentsOneEditor holds that a text lands only in the file that it was shown
// for, however two agents and the answers of one editor come together.
func TestTwoAgentsOneEditor(t *testing.T) {
	t.Parallel()
	rounds := 4
	if os.Getenv("AGENT_TEST_FULL") != "" {
		rounds = 1000 // of each dialect
	}
	for name, dialect := range dialects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &desk{T: t, random: rand.New(rand.NewPCG(stress.Seed(t), 5)), counted: map[string]int{}, shown: map[string]string{}}
			d.locks = filepath.Join(t.TempDir(), ".agent", "ide")
			scratch.Mkdir(t, d.locks)
			d.editor = idetest.Start(t, dialect())
			d.lock = d.editor.WriteLock((&rig{home: filepath.Dir(filepath.Dir(d.locks)), locks: d.locks}).folder(d.editor.Dialect), d.locks)
			for i := range d.agents {
				d.start(i)
			}
			for range rounds {
				for range 3 + d.random.IntN(8) {
					d.act()
				}
				for _, a := range d.agents {
					if a.asking {
						a.give()
						a.settle()
					}
				}
			}
			for _, a := range d.agents {
				a.die()
			}
			t.Logf("load: %d rounds, %v", rounds, d.counted)
			if os.Getenv("AGENT_TEST_FULL") != "" && d.counted["written"] == 0 {
				t.Error("nothing was written at all")
			}
		})
	}
}
