package ide_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/ide"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/tools/access"
	"github.com/bb2d0cf4/agent/internal/tools/change"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// mingle is one agent with a terminal and two windows of an editor, through real sockets,
// whose answers come in any order and number.
type mingle struct {
	*testing.T
	random  *rand.Rand
	bridge  *ide.Bridge
	windows [2]*idetest.Editor
	locks   [2]string
	set     *tools.Set
	root    *workspace.Root
	person  *person
	verdict []confirm.Verdict // of the question, given by the controller
	diffs   []*idetest.Diff   // shown lately, the newest last
	fired   map[string]int

	proposal string // of the open question

	mu      sync.Mutex // guards the records of a question's moves
	approve map[string]bool
	reject  bool
	linked  int // how often a window was linked
}

// person is the terminal. It answers when told to, also when nobody asks anymore.
type person struct {
	shown   chan confirm.Request
	answers chan confirm.Verdict
}

// Review implements confirm.Reviewer.
func (p *person) Review(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	p.shown <- req
	select {
	case v := <-p.answers:
		v.By = "terminal"
		return v, nil
	case <-ctx.Done():
		return confirm.Verdict{Decision: confirm.Approve, By: "late terminal"}, nil // void
	}
}

func newMingle(t *testing.T, seed, number uint64) *mingle {
	m := &mingle{T: t, random: rand.New(rand.NewPCG(seed, number)), fired: map[string]int{}}
	m.person = &person{shown: make(chan confirm.Request, 4096), answers: make(chan confirm.Verdict)}
	dir, home := scratch.Dir(t, nil), t.TempDir()
	locks := filepath.Join(home, ".agent", "ide")
	m.root = scratch.Workspace(t, dir, workspace.Options{Home: home})
	m.bridge = ide.New(ide.Options{
		Search: lock.Search{
			Folder: locks, Home: home, Dir: dir,
			Env: func(string) string { return "" }, Ancestors: func() []int { return nil },
		},
		Connect: client.Options{Version: "test", Dir: dir}, Diffs: true,
	})
	control := confirm.NewController(nil, m.bridge.Reviewer, m.person)
	control.Answered = func(_ context.Context, _ confirm.Request, v confirm.Verdict, err error) {
		if err == nil {
			m.verdict = append(m.verdict, v)
		}
	}
	m.set = tools.NewSet(tools.Deps{
		Deps:  change.Deps{Files: access.Files{Root: m.root}, Ask: control, Session: func() string { return "s" }},
		Shell: tools.Shell{SpillDir: t.TempDir},
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.bridge.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	for i := range m.windows {
		m.windows[i] = idetest.Start(t, idetest.Ours())
		m.locks[i] = m.windows[i].WriteLock(locks, dir)
	}
	for try := 0; !m.link(0); try++ {
		if try == 10 {
			t.Fatal("no window can be linked")
		}
	}
	return m
}

// link links a window, as a person or a reconnection does, and reports whether it is
// linked: another move may cut the connection.
func (m *mingle) link(i int) bool {
	ctx, cancel := context.WithTimeout(m.Context(), patience)
	defer cancel()
	if m.bridge.Connect(ctx, m.locks[i]) != nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.linked++
	return true
}

// collect takes the diffs that the windows show, and waits a moment for the first.
func (m *mingle) collect(wait time.Duration) {
	late := time.NewTimer(wait)
	defer late.Stop()
	for {
		select {
		case d := <-m.windows[0].Shown:
			m.diffs = append(m.diffs, d)
		case d := <-m.windows[1].Shown:
			m.diffs = append(m.diffs, d)
		case <-late.C:
			return
		}
		late.Reset(0)
	}
}

// said records that somebody approves a text, or with "" rejects.
func (m *mingle) said(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if text == "" {
		m.reject = true
	} else {
		m.approve[text] = true
	}
}

// says records an answer for a diff, if it belongs to the open question.
func (m *mingle) says(d *idetest.Diff, text string) {
	if d.Text == m.proposal {
		m.said(text)
	}
}

// moves are the things that can happen to an open question. Each returns the function
// that does it, so that several can happen at once; over ends with the question.
var mingling = map[string]func(m *mingle, d, old *idetest.Diff, give func(), over <-chan struct{}) func(){
	"accept": func(m *mingle, d, _ *idetest.Diff, _ func(), _ <-chan struct{}) func() {
		return func() { m.says(d, d.Draft()); d.Accept() }
	},
	"reject": func(m *mingle, d, _ *idetest.Diff, _ func(), _ <-chan struct{}) func() {
		return func() { m.says(d, ""); d.Reject() }
	},
	"edit": func(m *mingle, d, _ *idetest.Diff, _ func(), _ <-chan struct{}) func() {
		text := d.Text + "edited " + strconv.Itoa(m.random.IntN(1000)) + "\n"
		return func() { m.says(d, text); d.Edit(text) } // a yes in the terminal takes it too
	},
	"close": func(_ *mingle, d, _ *idetest.Diff, _ func(), _ <-chan struct{}) func() { return d.Dismiss },
	"duplicate": func(m *mingle, d, _ *idetest.Diff, _ func(), _ <-chan struct{}) func() {
		return func() { m.says(d, d.Draft()); m.says(d, ""); d.Accept(); d.Reject(); d.Accept() }
	},
	"late": func(m *mingle, _, old *idetest.Diff, _ func(), _ <-chan struct{}) func() {
		return func() { m.says(old, old.Draft()); m.says(old, ""); old.Accept(); old.Reject() }
	},
	"wrong id": func(m *mingle, d, old *idetest.Diff, _ func(), _ <-chan struct{}) func() {
		number := strconv.Itoa(m.random.IntN(100_000))
		return func() {
			other := fmt.Sprintf(`{"v":1,"diffId":%q,"outcome":"accepted","reason":"button","userEdited":true}`, old.ID)
			if old != d {
				d.AnswerAs(old.Number(), idetest.Text("FILE_SAVED", "of another question\n", other))
				d.AnswerAs("9"+number+"9", idetest.Text("FILE_SAVED", "of no question\n", other))
			}
		}
	},
	"disconnect": func(m *mingle, _, _ *idetest.Diff, _ func(), _ <-chan struct{}) func() {
		w := m.windows[m.random.IntN(2)]
		return func() {
			for _, c := range w.Conns() {
				c.Cut()
			}
		}
	},
	"reconnect": func(m *mingle, _, _ *idetest.Diff, _ func(), _ <-chan struct{}) func() {
		i := m.random.IntN(2)
		return func() { m.link(i) }
	},
	"timeout": func(_ *mingle, _, _ *idetest.Diff, give func(), _ <-chan struct{}) func() { return give },
	"yes in the terminal": func(m *mingle, _, _ *idetest.Diff, _ func(), over <-chan struct{}) func() {
		return func() { m.answer(confirm.Verdict{Decision: confirm.Approve}, over) }
	},
	"no in the terminal": func(m *mingle, _, _ *idetest.Diff, _ func(), over <-chan struct{}) func() {
		return func() { m.answer(confirm.Verdict{}, over) }
	},
	"edit in the terminal": func(m *mingle, _, _ *idetest.Diff, _ func(), over <-chan struct{}) func() {
		text := "typed in the terminal " + strconv.Itoa(m.random.IntN(1000)) + "\n"
		return func() { m.answer(confirm.Verdict{Decision: confirm.Approve, Texts: confirm.Text(text)}, over) }
	},
}

// names of the moves; those at the end happen less often, as they cost time.
var (
	often  = []string{"accept", "reject", "edit", "close", "duplicate", "late", "wrong id", "timeout", "yes in the terminal", "no in the terminal", "edit in the terminal"}
	seldom = []string{"disconnect", "reconnect"}
)

// answer answers in the terminal, unless the question is over.
func (m *mingle) answer(v confirm.Verdict, over <-chan struct{}) {
	switch {
	case v.Decision == confirm.Reject:
		m.said("")
	case v.Edited() != nil:
		m.said(*v.Edited())
	default:
		m.said("the proposal")
	}
	select {
	case m.person.answers <- v:
	case <-over:
	}
}

// question has the model propose a text, plays random moves, and judges the end.
func (m *mingle) question(n int) {
	before, after := fmt.Sprintf("before %d\n", n), fmt.Sprintf("proposal %d\n", n)
	path := filepath.Join(m.root.Dir(), "f.txt")
	scratch.Write(m.T, path, before)
	m.proposal, m.verdict, m.approve, m.reject = after, nil, map[string]bool{}, false
	args, err := json.Marshal(map[string]string{"path": "f.txt", "content": after})
	if err != nil {
		m.Fatal(err)
	}
	ctx, give := context.WithCancel(m.Context())
	defer give()
	over := make(chan struct{})
	var res tools.Result
	var failed error
	go func() {
		defer close(over)
		res, failed = m.set.Call(ctx, "write_file", tools.Call{ID: strconv.Itoa(n), Args: args, Turn: "t"})
	}()
	<-m.person.shown
	if m.bridge.Status().State == ide.Connected {
		m.collect(20 * time.Millisecond)
	}
	m.play(give, over)
	m.finish(give, over)
	m.judge(path, before, after, res, failed)
	for len(m.person.shown) > 0 { // asked again
		<-m.person.shown
	}
	m.collect(0)
	m.diffs = m.diffs[max(0, len(m.diffs)-3):]
	for _, w := range m.windows {
		w.Forget()
	}
}

// play does a few moves at about the same instant.
func (m *mingle) play(give func(), over <-chan struct{}) {
	var work sync.WaitGroup
	defer work.Wait()
	for range 1 + m.random.IntN(4) {
		name := often[m.random.IntN(len(often))]
		if m.random.IntN(30) == 0 {
			name = seldom[m.random.IntN(len(seldom))]
		}
		var d, old *idetest.Diff
		if len(m.diffs) > 0 {
			d, old = m.diffs[len(m.diffs)-1], m.diffs[m.random.IntN(len(m.diffs))]
		} else if !strings.Contains(name, "terminal") && name != "reconnect" && name != "timeout" {
			continue
		}
		m.fired[name]++
		act, pause := mingling[name](m, d, old, give, over), time.Duration(max(0, m.random.IntN(600)-200))*time.Microsecond
		work.Go(func() {
			if pause > 0 {
				<-time.After(pause)
			}
			act()
		})
	}
}

// finish ends a question that the moves have left open.
func (m *mingle) finish(give func(), over <-chan struct{}) {
	end := m.random.IntN(3)
	for {
		select {
		case <-over:
			return
		case <-time.After(time.Millisecond):
		}
		if end == 0 {
			m.fired["given up"]++
			give()
			<-over
			return
		}
		m.fired["answered at last"]++
		m.answer(confirm.Verdict{Decision: confirm.Decision(end - 1)}, over)
	}
}

// judge checks that the question had one outcome, which somebody wanted, and that the
// file, the result for the transcript and the text for the model agree on it.
func (m *mingle) judge(path, before, after string, res tools.Result, failed error) {
	m.Helper()
	disk := scratch.Read(m.T, path)
	if failed != nil {
		m.fired["unanswered"]++
		if len(m.verdict) > 0 {
			m.fired["given up before the write"]++
		}
		if disk != before || !errors.Is(failed, context.Canceled) {
			m.Fatalf("given up (%v), and the file holds %q; verdicts %+v", failed, disk, m.verdict)
		}
		return
	}
	if len(m.verdict) != 1 {
		m.Fatalf("%d outcomes: %+v", len(m.verdict), m.verdict)
	}
	v := m.verdict[0]
	if v.Decision != confirm.Approve {
		m.fired["rejected"]++
		if disk != before || len(res.Changes) != 0 || res.Denied == nil || !m.reject || !strings.Contains(res.ForModel, "nothing was changed") && !strings.Contains(res.ForModel, "Nothing was changed") {
			m.Fatalf("rejected (%v) by %s: the file holds %q; the model is told %q", m.reject, v.By, disk, res.ForModel)
		}
		return
	}
	m.fired["approved"]++
	want := after
	if v.Edited() != nil {
		want = *v.Edited()
	}
	if wanted := m.approve[want] || want == after && m.approve["the proposal"]; !wanted || strings.Contains(v.By, "late") {
		m.Fatalf("%q was approved by %q, but only %v were", want, v.By, m.approve)
	}
	if disk != want || len(res.Changes) != 1 || res.Denied != nil {
		m.Fatalf("%q was approved, the file holds %q, the result is %+v", want, disk, res)
	}
	lines := strings.Split(strings.TrimSpace(want), "\n")
	if told := strings.Contains(res.ForModel, "+"+lines[len(lines)-1]+"\n"); want != after && !told {
		m.Fatalf("%q was written and not %q; the model is told %q", want, after, res.ForModel)
	}
}

// TestEditCrossesAYes: an edit in the editor that is reported while the terminal's yes is
// on its way is a draft, and a yes does not approve the empty text if it cannot be fetched.
func TestEditCrossesAYes(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	var d *idetest.Diff
	e.Handle("resolveDiff", func(*idetest.Conn, rawJSON) idetest.Reply {
		d.Edit("typed\n")
		return idetest.Refuse("DIFF_NOT_FOUND", "none")
	})
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	d = e.NextDiff()
	<-r.terminal.shown
	r.terminal.answers <- yes
	again := <-r.terminal.shown
	if len(again.Notes) != 1 || !strings.Contains(again.Notes[0].Text, "cannot be fetched") {
		t.Errorf("asked again with %q", again.Notes)
	}
	r.terminal.answers <- yes
	if o, text := r.answered(got, req); o.By != "terminal" || text != "new\n" {
		t.Errorf("%+v with %q", o, text)
	}
}

// TestInterleavings is "one answer, one effect" over the whole way: whatever a terminal
// and two windows answer, how often, how late and to what, a question has one outcome, and
// the disk, the transcript and the model agree on it.
func TestInterleavings(t *testing.T) {
	load, rigs := 400, 16*runtime.GOMAXPROCS(0)
	if os.Getenv("AGENT_TEST_FULL") != "" {
		load, rigs = 1_000_000, 32*runtime.GOMAXPROCS(0)
		// A question mostly waits for the disk and for answers.
		if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
			t.Setenv("TMPDIR", "/dev/shm")
		}
	}
	if text := os.Getenv("AGENT_TEST_LOAD"); text != "" {
		var err error
		if load, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	seed, total := stress.Seed(t), map[string]int{}
	end, _ := t.Deadline()
	var done atomic.Int64
	var mu sync.Mutex
	var work sync.WaitGroup
	for i := range rigs {
		work.Go(func() {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				m := newMingle(t, seed, uint64(i))
				for n := range load / rigs {
					if !end.IsZero() && time.Until(end) < time.Minute {
						break // the load below counts these rounds alone
					}
					m.question(n)
					done.Add(1)
				}
				for _, w := range m.windows {
					w.WaitOpenDiffs(0)
				}
				m.fired["linked"] = m.linked
				mu.Lock()
				defer mu.Unlock()
				for name, times := range m.fired {
					total[name] += times
				}
			})
		})
	}
	work.Wait()
	t.Logf("load: %d interleavings of %d agents, each with a terminal and two windows, seed %d: %v", done.Load(), rigs, seed, total)
	for _, must := range append(append([]string{"approved", "rejected", "unanswered", "linked"}, often...), seldom...) {
		if total[must] == 0 {
			t.Errorf("%q never happened", must)
		}
	}
}
