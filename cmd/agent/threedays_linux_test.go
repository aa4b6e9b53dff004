package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/audit"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// errand is one prompt of a working day with the model's calls for it. A call begins with the
// person's opinion of it:
//
//	free   only reads, or is covered by a rule that was learned: nobody is asked
//	learn  is asked about until the person has said "always, for this project"
//	yes    is asked about each time: an edit, or a command that is hard to undo
//	no     is asked about and refused, which ends the turn
//
// %d is the number of the prompt. At most one call of an errand asks, so that a panel on the
// screen is never that of the call before.
type errand struct {
	say   string
	calls []string
}

// workdays are three days on a small project, written after the days that internal/app/replay
// replays. All that is run is real, and done within a few milliseconds.
var workdays = [3][]errand{
	{ // a bug in the paging
		{"look around", []string{"free list .", "free run git status", "free run git log --oneline -5", "free read notes.md"}},
		{"where is the cursor?", []string{"free search cursor src", "free list src", "free run grep -rn cursor src", "free run wc -l src/list.txt"}},
		{"do the tests pass?", []string{"free read Makefile", "free read check.sh", "learn run make test"}},
		{"mend it", []string{"free read src/list.txt", "free run nl src/list.txt", "yes edit src/list.txt"}},
		{"test again", []string{"learn run make test", "free run git diff"}},
		{"check the style", []string{"free find *.sh", "learn run ./check.sh src"}},
		{"stage it", []string{"free run git diff", "learn run git add src/list.txt"}},
		{"commit it", []string{"free run git log -1 --format=%h", `learn run git commit -m "prompt %d"`}},
		{"push it", []string{"yes run git push -q origin HEAD:try-%d"}},
		{"clean up", []string{"free run ls -la build", "free run du -s build", "no run rm -rf build src"}},
		{"what is next?", []string{"free run cat notes.md | grep -n next", "free run head -3 src/list.txt", "free find **/*.txt"}},
	},
	{ // a review, with the rules of the first day
		{"what has changed?", []string{"free run git log --stat -2", "free run git tag", "free run git status"}},
		{"try it", []string{"free run cat check.sh", "learn run make test", "learn run ./check.sh docs"}},
		{"read the settings", []string{"free list src", "free run ls -A", "no read .env"}},
		{"write that down", []string{"free read docs/api.md", "yes edit docs/api.md"}},
		{"and in the code", []string{"free search page src", "free read src/list.txt", "yes edit src/list.txt"}},
		{"all green?", []string{"learn run make test", "learn run ./check.sh src"}},
		{"stage it", []string{"learn run git add src/list.txt", "free run git diff", "yes run git add -A docs"}},
		{"commit", []string{`learn run git commit -m "prompt %d"`, "free run git log -1"}},
		{"undo that", []string{"free run git log --oneline -2", "no run git reset --hard HEAD~1"}},
		{"push", []string{"yes run git push -q origin HEAD:try-%d"}},
	},
	{ // a release: nothing new is learned
		{"begin", []string{"free run git branch -a", "free run git status", "free list .", "free run sort docs/api.md | uniq -c"}},
		{"which files?", []string{"free find **/*.md", "free run find . -name '*.txt'", "free read src/list.txt"}},
		{"run everything", []string{"learn run make test", "learn run ./check.sh src", "learn run ./check.sh docs"}},
		{"raise the number", []string{"free read notes.md", "yes edit notes.md"}},
		{"once more", []string{"learn run make test", "free run git diff", "free run tail -2 notes.md"}},
		{"stage it", []string{"free run git add notes.md", "free run git branch"}},
		{"commit", []string{`learn run git commit -m "prompt %d"`}},
		{"the pipeline too", []string{"free read .github/workflows/ci.yml", "free list .github/workflows", "no edit .github/workflows/ci.yml"}},
		{"fetch the schema", []string{"free search schema .", "no run curl -s http://127.0.0.1:1/schema-%d"}},
		{"done?", []string{"free run git log --oneline -3", "free run git status", "free read docs/api.md"}},
	},
}

// deskWork is a person at work in a folder with a repository.
type deskWork struct {
	*desk
	prompts  int
	calls    int
	asked    map[string]int // questions by the person's opinion of the call
	learned  map[string]bool
	counters map[string]int // of the files to edit
	next     atomic.Pointer[turns]
	socket   string
}

// turns are the model's two for a prompt: its calls, and its end.
type turns struct{ calls, end llmtest.Turn }

func newDeskWork(t *testing.T) *deskWork {
	w := &deskWork{asked: map[string]int{}, learned: map[string]bool{}, counters: map[string]int{}}
	w.desk = newDesk(t, llmtest.NewServerFunc(t, w.answer), map[string]string{
		"Makefile": "test:\n\t@sh check.sh src\n", "notes.md": "step 0\nnext: paging\n", ".env": "TOKEN=t\n",
		"src/list.txt": "step 0\ncursor\npage\n", "docs/api.md": "step 0\npages\n", "build/out": "", ".github/workflows/ci.yml": "step 0\n",
	})
	scratch.Program(t, w.path("check.sh"), "#!/bin/sh\ngrep -rc step \"$1\" >/dev/null && echo ok\n")
	origin := t.TempDir()
	for _, args := range [][]string{{"init", "-q", "--bare", origin}, {"init", "-q"}, {"remote", "add", "origin", origin}, {"config", "user.name", "P"}, {"config", "user.email", "p@example.org"}, {"add", "."}, {"commit", "-q", "-m", "begin"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = w.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	return w
}

// answer is the model: it makes the calls of the prompt, and then has done it.
func (w *deskWork) answer(_ int, body []byte) llmtest.Turn {
	var req struct {
		Messages []struct{ Role string }
	}
	if err := json.Unmarshal(body, &req); err != nil || len(req.Messages) == 0 {
		return llmtest.Raw(400, "text/plain", "not a request")
	}
	next := w.next.Load()
	if req.Messages[len(req.Messages)-1].Role == "user" {
		return next.calls
	}
	return next.end
}

// call returns the call that text describes, such as "run make test".
func (w *deskWork) call(text string) llmtest.Call {
	tools := map[string][2]string{
		"run": {"execute_command", "command"}, "read": {"read_file", "path"}, "list": {"list_files", "path"},
		"find": {"find_files", "pattern"}, "search": {"search_files", "regex"}, "edit": {"edit_file", "path"},
	}
	word, rest, _ := strings.Cut(text, " ")
	args := map[string]string{tools[word][1]: rest}
	switch word {
	case "search":
		args["regex"], args["path"], _ = strings.Cut(rest, " ")
	case "edit":
		n := w.counters[rest]
		args["old_string"], args["new_string"] = fmt.Sprintf("step %d\n", n), fmt.Sprintf("step %d\n", n+1)
	}
	data, err := json.Marshal(args)
	if err != nil {
		w.t.Fatal(err)
	}
	return llmtest.Call{Name: tools[word][0], Args: string(data)}
}

// do gives a prompt, answers the question that its calls must ask, and waits for the end.
func (w *deskWork) do(e errand) {
	w.t.Helper()
	w.prompts++
	var calls []llmtest.Call
	think, what, end := "", "", fmt.Sprintf(`Prompt %d is done\.`, w.prompts)
	for _, c := range e.calls {
		kind, text, _ := strings.Cut(c, " ")
		if kind == "learn" && !w.learned[text] || kind == "yes" || kind == "no" {
			if think != "" {
				w.t.Fatalf("%q: two questions", e.say)
			}
			think, what = kind, text
		}
		calls = append(calls, w.call(strings.ReplaceAll(text, "%d", strconv.Itoa(w.prompts))))
	}
	w.calls += len(calls)
	w.next.Store(&turns{llmtest.Turn{Calls: calls}, llmtest.Turn{Text: fmt.Sprintf("Prompt %d is done.", w.prompts)}})
	w.say(e.say)
	w.decide(think, what)
	if think == "no" {
		end = `Declined\. What should I do`
	}
	w.WaitFor(end)
	w.idle()
}

// decide answers the question about a call.
func (w *deskWork) decide(think, what string) {
	w.t.Helper()
	if think == "" {
		return
	}
	w.asked[think]++
	_, file, edit := strings.Cut(what, "edit ")
	w.desk.asked(strings.ReplaceAll(regexp.QuoteMeta(strings.SplitN(what, " ", 2)[1]), "%d", `\d+`))
	switch think {
	case "learn":
		w.learned[what] = true
		w.Press("A")
		w.WaitFor(`(?m)^rule: run`)
		w.Press("tab")
		w.WaitFor(`allow it for this project`)
		w.Press("enter")
	case "yes":
		if edit {
			w.counters[file]++
		}
		w.Press("y")
	case "no":
		w.Press("n")
	}
}

// work is one day: the program is started, the errands are done rounds times, each round in
// a session of its own, and the program ends.
func (w *deskWork) work(day, rounds int) (morning, evening counts) {
	w.t.Helper()
	w.socket = filepath.Join(w.t.TempDir(), "counts")
	w.env = append(w.env, countsVariable+"="+w.socket)
	w.sit()
	for round := range rounds {
		if round > 0 {
			w.say("/clear")
			w.WaitFor(`Started a new session`)
		}
		for i, e := range workdays[day] {
			w.do(e)
			if round == 0 && i == 3 { // all is set up
				morning = w.count(nil)
			}
		}
		w.server.Forget()
	}
	evening = w.count(&morning)
	w.leave()
	return morning, evening
}

// answered returns how often a person answered on this day, as the audit log has it.
func (w *deskWork) answered(since time.Time) (n int) {
	w.t.Helper()
	err := audit.Open(w.home).Each(func(e audit.Entry, broken *audit.BrokenError) error {
		if broken != nil {
			return broken
		}
		if (e.Event == audit.Approved || e.Event == audit.Declined) && !e.Rule && e.Time.After(since) {
			n++
		}
		return nil
	})
	if err != nil {
		w.t.Error(err)
	}
	return n
}

// typed returns how long the slowest of some keys takes to be on the screen.
func (w *deskWork) typed() (slowest time.Duration) {
	w.t.Helper()
	for i := range 20 {
		before := time.Now()
		w.Type("k")
		w.WaitFor(`(?m)^❯ ` + strings.Repeat("k", i+1) + `$`)
		slowest = max(slowest, time.Since(before))
	}
	w.Press("ctrl+u")
	w.WaitFor(`(?m)^❯$`)
	return slowest
}

// count asks the program for its counts, when its number of goroutines rests. Those at work
// in the background may take a while on a busy machine: it waits until there are no more than
// before, if they end at all.
func (w *deskWork) count(before *counts) counts {
	w.t.Helper()
	c := counts{Key: w.typed()}
	late := time.Now().Add(30 * time.Second)
	for last := -1; ; last = c.Goroutines {
		conn, err := net.Dial("unix", w.socket)
		if err != nil {
			w.t.Fatal(err)
		}
		data, err := io.ReadAll(conn)
		if err := conn.Close(); err != nil {
			w.t.Error(err)
		}
		if err != nil || json.Unmarshal(data, &c) != nil {
			w.t.Fatalf("%v, %q", err, data)
		}
		if c.Goroutines == last && (before == nil || c.rests(*before) || time.Now().After(late)) {
			return c
		}
	}
}

// TestThreeDays: in three days of use the person is asked once about a command that a rule
// for the project then allows, each time about an edit or a risky command, never about a read;
// and the program holds no more memory, goroutines and files than on the morning.
func TestThreeDays(t *testing.T) {
	t.Parallel()
	prompts := 0
	if os.Getenv("AGENT_TEST_FULL") != "" {
		prompts = 20_000
	}
	if text := os.Getenv("AGENT_TEST_LOAD"); text != "" {
		var err error
		if prompts, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	w := newDeskWork(t)
	var days []string
	for day, errands := range workdays {
		start, before, calls := time.Now(), w.prompts, w.calls
		w.asked = map[string]int{}
		morning, evening := w.work(day, max(1, (prompts/len(workdays)+len(errands)-1)/len(errands)))
		asked := w.asked["learn"] + w.asked["yes"] + w.asked["no"]
		days = append(days, fmt.Sprintf("day %d: %d calls, %d questions %v; %v, then %v", day+1, w.calls-calls, asked, w.asked, morning, evening))
		if n := w.answered(start); n != asked {
			t.Errorf("day %d: %d answers in the audit log, %d were given", day+1, n, asked)
		}
		evening.within(t, morning, w.prompts-before)
	}
	if w.asked["learn"] > 0 {
		t.Errorf("on the third day, %d questions are about what was allowed before", w.asked["learn"])
	}
	t.Logf("load: %d prompts, %d calls; %s", w.prompts, w.calls, strings.Join(days, "; "))
}

// rests reports whether no more goroutines and files are there than before. A connection that
// is kept for the next request has two goroutines.
func (c counts) rests(before counts) bool {
	return c.Goroutines <= before.Goroutines+2 && c.Files <= before.Files+2
}

// within fails if the counts are more than before, by more than some prompts justify.
func (c counts) within(t *testing.T, before counts, prompts int) {
	t.Helper()
	if !c.rests(before) {
		t.Errorf("%v, before %v", c, before)
	}
	if grown, allowed := c.Heap-before.Heap, 1<<20+prompts*1000; grown > allowed {
		t.Errorf("the heap has grown by %d bytes in %d prompts", grown, prompts)
	}
	if c.Key > max(20*time.Second, 2*before.Key) { // a busy machine is slow too
		t.Errorf("a key takes %v to be shown, before %v", c.Key, before.Key)
	}
}

func (c counts) String() string {
	return fmt.Sprintf("%d goroutines, %d files, %d kB in use, %s resident, a key in %v", c.Goroutines, c.Files, c.Heap>>10, c.Resident, c.Key.Round(time.Millisecond))
}
