package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// wordy returns an answer of a number of bytes, which the provider counts as a number
// of tokens.
func wordy(bytes int, tokens int64) answerFunc {
	return end(strings.Repeat("word ", bytes/5), llm.End{Stop: llm.StopEnd, Usage: llm.Usage{Input: tokens, Output: 10}})
}

func tooBig(window, needed int64) answerFunc {
	return breakOff("", &llm.Error{Kind: llm.TooLong, Status: 400, Message: "too long", Window: window, Needed: needed})
}

// rigWithTurns returns a rig that has run some turns.
func rigWithTurns(t *testing.T, opt Options, answers ...answerFunc) *rig {
	t.Helper()
	r := newRig(t, opt, append([]answerFunc{wordy(4000, 1000), wordy(4000, 2000), wordy(4000, 3000)}, answers...)...)
	for i := range 3 {
		if err := r.Run(t.Context(), fmt.Sprint("prompt ", i)); err != nil {
			t.Fatal(err)
		}
	}
	r.model.requests, r.events = nil, nil
	return r
}

// TestAtMostTwoRequestsAfterOneThatIsTooLong checks that the turn then ends with
// advice, and that nothing of the conversation is lost.
func TestAtMostTwoRequestsAfterOneThatIsTooLong(t *testing.T) {
	for name, tt := range map[string]struct {
		answers  []answerFunc
		requests int
		fails    bool
	}{
		"never fits":               {[]answerFunc{tooBig(0, 0), tooBig(0, 0), tooBig(0, 0), say("never asked for")}, 3, true},
		"fits when compacted":      {[]answerFunc{tooBig(0, 0), say("fine")}, 2, false},
		"fits when tight":          {[]answerFunc{tooBig(0, 0), tooBig(0, 0), say("fine")}, 3, false},
		"sizes known":              {[]answerFunc{tooBig(2000, 4000), say("the notes"), say("fine")}, 3, false},
		"sizes known, never fits":  {[]answerFunc{tooBig(2000, 4000), say("the notes"), tooBig(2000, 4000), say("never asked for")}, 3, true},
		"the summary does not fit": {[]answerFunc{tooBig(2000, 4000), tooBig(900, 4000), say("fine")}, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := rigWithTurns(t, Options{}, append([]answerFunc{say("", call("a", "read", "{}"))}, tt.answers...)...)
			r.tools.tools["read"] = does(tools.Result{ForModel: strings.Repeat("x", 6000)})
			err := r.Run(t.Context(), "the next one")
			if (err != nil) != tt.fails || len(r.model.requests)-1 != tt.requests {
				t.Fatalf("%d requests, %v", len(r.model.requests), err)
			}
			if tt.fails && (!strings.Contains(err.Error(), "/clear") || !strings.Contains(err.Error(), "too long") || r.stop() != StopFailed) {
				t.Errorf("%v, stop %q", err, r.stop())
			}
			if got := len(r.Prompts()); got != 4 || r.Messages()[0].Text() != "prompt 0" {
				t.Errorf("%d prompts are left", got)
			}
		})
	}
}

func TestAPromptThatAloneIsTooLong(t *testing.T) {
	r := newRig(t, Options{}, tooBig(10, 400), say("never asked for"))
	err := r.Run(t.Context(), strings.Repeat("word ", 300))
	if err == nil || !strings.Contains(err.Error(), "cannot be shortened further") || len(r.model.requests) != 1 {
		t.Errorf("%d requests, %v", len(r.model.requests), err)
	}
}

// TestTheLedgerListsCalls checks that a compaction within a turn lists what its calls
// did.
func TestTheLedgerListsCalls(t *testing.T) {
	r := rigWithTurns(t, Options{}, say("", call("a", "edit", "{}")), say("", call("b", "run", "{}")), say("", call("c", "no_way", "{}")),
		say("", call("d", "read", "{}")), tooBig(0, 0), say("fine"))
	r.tools.tools["read"] = does(tools.Result{ForModel: strings.Repeat("x", 4000)})
	r.tools.tools["edit"] = does(tools.Result{ForModel: "ok", ForUser: "+1 −0", Changes: []tools.FileChange{{Path: "a.go", Added: 1}}})
	r.tools.tools["run"] = does(tools.Result{ForModel: strings.Repeat("x", 4000), ForUser: "exit 1", Ran: true})
	r.tools.tools["no_way"] = does(tools.Result{ForModel: "no", ForUser: "declined: not here", Denied: &tools.Denied{}})
	if err := r.Run(t.Context(), "do it"); err != nil {
		t.Fatal(err)
	}
	first := r.model.last()[0].Text()
	at := 0
	for _, want := range []string{"- edit(): +1 −0", "- run(): exit 1", "- no_way(): declined: not here", "word for word\n\ndo it"} {
		i := strings.Index(first[at:], want)
		if i < 0 {
			t.Fatalf("no %q behind what is before it in\n%s", want, first)
		}
		at += i
	}
	if strings.Contains(first, "read()") {
		t.Error("what only read is among what was done")
	}
}

// TestTheLedgerListsOtherDeeds checks that deeds without the model are listed in order, saved at once, and
// gone after a rewind.
func TestTheLedgerListsOtherDeeds(t *testing.T) {
	a := archive.New(t.TempDir())
	s := newStore(t, a)
	r := newRig(t, Options{Store: s}, say("", call("a", "edit", "{}")), say("one"), say("two"), say("three"))
	r.tools.tools["edit"] = does(tools.Result{
		ForModel: strings.Repeat("x", 4000), ForUser: "+1 −0", Changes: []tools.FileChange{{Path: "a.go", Added: 1}},
		Record: tools.Record{What: "Edit a.go", Words: "The user says: mind this"}, Ended: []string{"job-1 has ended"},
	})
	r.RecordDeed(history.Deed{What: "Run make", Result: "exit 0"}) // before there is anything to save
	for _, prompt := range []string{"first", "second"} {
		if err := r.Run(t.Context(), prompt); err != nil {
			t.Fatal(err)
		}
	}
	r.RecordDeed(history.Deed{What: "Undo b.go", Result: "with what is taken back"})
	if err := r.Rewind(r.Prompts()[1].N); err != nil {
		t.Fatal(err)
	}
	r.RecordDeed(history.Deed{What: "Undo a.go", Result: "taken back"})
	want := []string{"Undo a.go: taken back"}
	if diff := cmp.Diff(want, r.UnsentDeeds()); diff != "" {
		t.Error(diff)
	}
	s.Close()

	again := newRig(t, Options{Store: reopen(t, a, s.ID())}, wordy(4000, 1000), say("the notes"))
	if diff := cmp.Diff(want, again.UnsentDeeds()); diff != "" {
		t.Errorf("resumed:\n%s", diff)
	}
	if err := again.Run(t.Context(), "go on"); err != nil {
		t.Fatal(err)
	}
	if got := again.UnsentDeeds(); got != nil {
		t.Errorf("after the next prompt: %q", got)
	}
	if err := again.Compact(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	ledger := "- Run make: exit 0\n- Edit a.go: +1 −0. The user says: mind this\n- job-1 has ended\n- Undo a.go: taken back\n"
	if got := again.Compacted(); !strings.Contains(got, "\n\n"+ledger) {
		t.Errorf("%s", got)
	}
}

// TestASessionBeginsWithAPrompt checks that a deed before the first prompt creates no
// session.
func TestASessionBeginsWithAPrompt(t *testing.T) {
	a := archive.New(t.TempDir())
	s := newStore(t, a)
	r := newRig(t, Options{Store: s})
	r.RecordDeed(history.Deed{What: "Run make"})
	s.Close()
	if _, err := a.Open(s.ID()); err == nil {
		t.Error("there is a session")
	}
}

// TestAStoppedCallIsInTheLedger checks a tool that ran and ended the turn: it may have
// done something.
func TestAStoppedCallIsInTheLedger(t *testing.T) {
	r := newRig(t, Options{}, say("", call("a", "run", "{}")))
	r.tools.tools["run"] = func(context.Context, tools.Call) (tools.Result, error) {
		return tools.Result{Ran: true, Record: tools.Record{What: "Run make", Result: "stopped"}}, errors.New("stopped")
	}
	if err := r.Run(t.Context(), "go"); err == nil {
		t.Fatal("no error")
	}
	want := &history.Deed{What: "Run make", Result: "stopped", Failed: true}
	if diff := cmp.Diff(want, r.chat.Items()[2].Deed); diff != "" {
		t.Error(diff)
	}
}

// TestShortenedTextIsInAFile checks that the model learns the file with the full text,
// even after the session moved, and that it learns if there is no file.
func TestShortenedTextIsInAFile(t *testing.T) {
	files, fails := map[string]string{}, false
	place := "/one/"
	keep := func(session, text string) (string, error) {
		if fails {
			return "", errors.New("disk full")
		}
		files[place+session] = text
		return place + session, nil
	}
	a := archive.New(t.TempDir())
	s := newStore(t, a)
	r := newRig(t, Options{Store: s, SaveFull: keep}, say("", call("a", "run", "{}")), say("one"), say("the notes"), say("other notes"))
	long := "Run " + strings.Repeat("true && ", 500) + "echo THE-END"
	r.tools.tools["run"] = does(tools.Result{ForModel: strings.Repeat("x", 4000), ForUser: "exit 0", Ran: true, Record: tools.Record{What: long}})
	if err := r.Run(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	if err := r.Compact(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	said := func(r *rig, where string) {
		t.Helper()
		if got := r.Compacted(); !strings.Contains(got, "word for word in "+where) || strings.Count(got, "word for word in ") != 1 {
			t.Errorf("%s", got)
		}
	}
	said(r, "/one/"+s.ID()+":")
	if kept := strings.ReplaceAll(files["/one/"+s.ID()], " [the line continues]\n", ""); !strings.Contains(kept, "- "+long+": exit 0\n") {
		t.Errorf("the file has %s", kept)
	}
	s.Close()

	place = "/two/"
	s = reopen(t, a, s.ID())
	again := newRig(t, Options{Store: s, SaveFull: keep})
	said(again, "/two/"+s.ID()+":")
	if files["/two/"+s.ID()] != files["/one/"+s.ID()] {
		t.Error("the other file has something else")
	}
	s.Close()

	fails = true
	s = reopen(t, a, s.ID())
	again = newRig(t, Options{Store: s, SaveFull: keep})
	said(again, "the session's file, which only the user can read")
	if n := eventsOf[Notice](again); len(n) != 1 || !strings.Contains(n[0].Text, "disk full") {
		t.Errorf("notices %+v", n)
	}
}

// TestCompactInTime checks that the model compacts the conversation, once, before a
// request would come near the window.
func TestCompactInTime(t *testing.T) {
	systems := 0
	r := rigWithTurns(t, Options{CompactAt: 80, System: func(context.Context) string { systems++; return "s" }}, say("the first notes"), say("older notes"), say("the notes"), say("fine"), say("again"))
	r.model.window = 4000
	before := systems
	if err := r.Run(t.Context(), "the next one"); err != nil {
		t.Fatal(err)
	}
	if len(r.model.requests) != 4 || len(r.model.requests[0].Tools) != 0 || !strings.Contains(r.model.last()[0].Text(), "the notes") {
		t.Fatalf("%d requests, the last: %+v", len(r.model.requests), r.model.last())
	}
	if systems-before != 2 {
		t.Errorf("the system prompt was asked for %d times: it may be old after a summary", systems-before)
	}
	if len(eventsOf[Compacting](r)) != 1 || len(eventsOf[Filled](r)) != 1 || len(eventsOf[Notice](r)) != 1 {
		t.Errorf("%+v", r.events)
	}
	if f := eventsOf[Filled](r)[0]; f.Window != 4000 || f.Context > 2000 || f.Context < 80 || f.Total.Input == 0 {
		t.Errorf("%+v", f)
	}
	if err := r.Run(t.Context(), "and on"); err != nil || len(r.model.requests) != 5 {
		t.Errorf("%d requests, %v", len(r.model.requests), err)
	}
}

// TestResultsAreCutBeforeASummary checks that results of older rounds are cut once, with
// their whole text in a file, and that no summary is asked for if that is enough.
func TestResultsAreCutBeforeASummary(t *testing.T) {
	kept := ""
	r := newRig(t, Options{CompactAt: 80, SaveFull: func(_, text string) (string, error) {
		kept = text
		return "/spill/whole.md", nil
	}},
		counted(30, call("a", "read", "{}")), counted(2650, call("b", "read", "{}")), counted(3100, call("c", "small", "{}")), say("done"), say("more"))
	r.model.window = 4000
	old, newest := strings.Repeat("old ", 2300), strings.Repeat("new ", 325)
	results := []string{old, newest}
	r.tools.tools["read"] = func(context.Context, tools.Call) (tools.Result, error) {
		text := results[0]
		results = results[1:]
		return tools.Result{ForModel: text}, nil
	}
	r.tools.tools["small"] = does(tools.Result{ForModel: strings.Repeat("small ", 170)})
	for _, prompt := range []string{"look", "go on"} {
		if err := r.Run(t.Context(), prompt); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.model.requests) != 5 || r.Compacted() != "" || len(eventsOf[Compacting](r)) != 1 {
		t.Fatalf("%d requests, %d compactions, %q", len(r.model.requests), len(eventsOf[Compacting](r)), r.Compacted())
	}
	cut, after := r.model.requests[3].Messages, r.model.requests[4].Messages
	if got := cut[2].Text(); len(got) > 1400 || !strings.HasPrefix(got, "old old ") || !strings.Contains(got, `"Result 3" in /spill/whole.md has all of it`) {
		t.Errorf("the old result: %q", got)
	}
	if cut[4].Text() != newest || !strings.Contains(strings.ReplaceAll(kept, " [the line continues]\n", ""), old) {
		t.Error("the newest result, or the file, is not whole")
	}
	if diff := cmp.Diff(cut, after[:len(cut)]); diff != "" {
		t.Errorf("the next request does not begin with the bytes of this one: %s", diff)
	}
	if err := r.SetSummary("mine"); err == nil {
		t.Error("a summary that does not exist was replaced")
	}
}

// counted returns an answer with a call, whose request has a number of tokens.
func counted(tokens int64, c llm.ToolCall) answerFunc {
	return end("", llm.End{Stop: llm.StopTools, Calls: []llm.ToolCall{c}, Usage: llm.Usage{Input: tokens, Output: 10}})
}

func TestCompactionIsLeftToTheUser(t *testing.T) {
	r := rigWithTurns(t, Options{}, say("fine"))
	r.model.window = 100
	if err := r.Run(t.Context(), "the next one"); err != nil || len(r.model.requests) != 1 {
		t.Errorf("%d requests, %v", len(r.model.requests), err)
	}
}

// TestSummaryOfAConversationLongerThanTheWindow has it summarized in pieces that fit, each
// with the notes so far, and with little effort.
func TestSummaryOfAConversationLongerThanTheWindow(t *testing.T) {
	for name, tt := range map[string]struct {
		effort  string
		answers []answerFunc
		want    []string // the efforts of the requests
	}{
		"pieces":          {"high", []answerFunc{say("notes one"), say("notes two"), say("notes three"), say("fine")}, []string{"low", "low", "low", "high"}},
		"low is unknown":  {"max", []answerFunc{breakOff("", &llm.Error{Kind: llm.Refused, Status: 400}), say("notes one"), say("notes two"), say("notes three"), say("fine")}, []string{"low", "max", "max", "max", "max"}},
		"nobody's choice": {"", []answerFunc{say("notes one"), say("notes two"), say("notes three"), say("fine")}, []string{"", "", "", ""}},
		"little already":  {"minimal", []answerFunc{say("notes one"), say("notes two"), say("notes three"), say("fine")}, []string{"minimal", "minimal", "minimal", "minimal"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := rigWithTurns(t, Options{CompactAt: 80, Effort: func() string { return tt.effort }}, tt.answers...)
			r.model.window = 4000
			if err := r.Run(t.Context(), "the next one"); err != nil {
				t.Fatal(err)
			}
			var efforts, texts []string
			for _, req := range r.model.requests {
				efforts = append(efforts, req.Effort)
				texts = append(texts, req.Messages[0].Text())
			}
			if diff := cmp.Diff(tt.want, efforts); diff != "" {
				t.Fatal(diff)
			}
			one, two, last := texts[len(texts)-4], texts[len(texts)-3], texts[len(texts)-1]
			if !strings.Contains(one, "USER: prompt 0") || strings.Contains(one, "notes one") || !strings.Contains(two, "before:\nnotes one\n") || !strings.Contains(two, "USER: prompt 1") {
				t.Errorf("%.300s\n%.300s", one, two)
			}
			if !strings.Contains(last, "notes three") || len(one) > 4000*3*3/4 {
				t.Errorf("%d bytes, then %.300s", len(one), last)
			}
		})
	}
}

func TestCancelWhileCompacting(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := rigWithTurns(t, Options{CompactAt: 80}, hang("half", cancel), say("fine"))
	r.model.window = 4000
	if err := r.Run(ctx, "the next one"); !errors.Is(err, context.Canceled) || r.stop() != StopCancelled || r.Summary() != "" {
		t.Fatalf("%v, stop %q, summary %q", err, r.stop(), r.Summary())
	}
}

// TestASummaryIsEditedAndResumed checks that the user's version is sent, even after the
// session was opened again, and that a rewind to before it removes it.
func TestASummaryIsEditedAndResumed(t *testing.T) {
	a := archive.New(t.TempDir())
	s := newStore(t, a)
	r := rigWithTurns(t, Options{Store: s}, say("the notes"))
	if err := r.SetSummary("x"); err == nil {
		t.Error("there is nothing to edit yet")
	}
	if err := errors.Join(r.Compact(t.Context(), "the tests"), r.SetSummary("my own")); err != nil {
		t.Fatal(err)
	}
	s.Close()
	again := newRig(t, Options{Store: reopen(t, a, s.ID())}, say("fine"), say("fine"))
	if got := again.Summary(); got != "my own" {
		t.Errorf("summary %q", got)
	}
	if err := again.Run(t.Context(), "go on"); err != nil {
		t.Fatal(err)
	}
	if first := again.model.last()[0].Text(); !strings.Contains(first, "my own") || strings.Contains(first, "the notes") {
		t.Error(first)
	}
	if diff := cmp.Diff(r.Messages(), again.Messages()[:len(r.Messages())]); diff != "" {
		t.Errorf("what is shown:\n%s", diff)
	}
	if err := again.Rewind(again.Prompts()[0].N); err != nil || again.Summary() != "" {
		t.Errorf("%v, summary %q", err, again.Summary())
	}
	if err := again.Run(t.Context(), "anew"); err != nil {
		t.Fatal(err)
	}
	wantChat(t, again.model.last(), "user: anew")
}

// TestFilledIsTrue checks Filled after a resume, a change of the model and a rewind.
func TestFilledIsTrue(t *testing.T) {
	a := archive.New(t.TempDir())
	s := newStore(t, a)
	rigWithTurns(t, Options{Store: s})
	s.Close()
	last := func(r *rig) Filled {
		all := eventsOf[Filled](r)
		if len(all) == 0 {
			t.Fatal("nothing was said")
		}
		said := all[len(all)-1]
		if f := r.Fill(); f.Context != said.Context || f.Window != said.Window {
			t.Errorf("it was told %+v, and asked for it says %+v", said, f)
		}
		return said
	}
	r := newRig(t, Options{Store: reopen(t, a, s.ID())})
	if f := last(r); f.Context != 3010 || f.Total.Input != 6000 {
		t.Errorf("resumed: %+v", f)
	}
	r.SetModel(&model{tb: t, window: 777})
	if f := last(r); f.Window != 777 || f.Context < 3000 || f.Context > 4500 {
		t.Errorf("another model: %+v", f)
	}
	if err := r.Rewind(r.Prompts()[1].N); err != nil {
		t.Fatal(err)
	}
	if f := last(r); f.Context < 1000 || f.Context > 1500 || f.Total.Input != 6000 {
		t.Errorf("rewound: %+v", f)
	}
	if err := r.Use(newStore(t, a)); err != nil {
		t.Fatal(err)
	}
	if f := last(r); f.Context != 0 || f.Total != (llm.Usage{}) {
		t.Errorf("another session: %+v", f)
	}
}

// TestOneFigureForTheContext checks that AnswerEnded and Fill agree.
func TestOneFigureForTheContext(t *testing.T) {
	r := newRig(t, Options{}, wordy(4000, 1234), say("", call("a", "read", "{}")), wordy(100, 2345))
	r.tools.tools["read"] = does(tools.Result{ForModel: strings.Repeat("x", 3000)})
	for i := range 2 {
		if err := r.Run(t.Context(), fmt.Sprint("prompt ", i)); err != nil {
			t.Fatal(err)
		}
		ended := eventsOf[AnswerEnded](r)
		last, f := ended[len(ended)-1], r.Fill()
		if want := []int64{1244, 2355}[i]; f.Context != want || last.Context != want || last.Window != f.Window {
			t.Errorf("the answer says %+v, Fill %+v, counted were %d", last, f, want)
		}
	}
}

// A model with a large context is asked for longer notes.
func TestTheSummaryFollowsTheWindow(t *testing.T) {
	for window, words := range map[int64]string{0: "at most 1142 words", 400_000: "at most 4714 words"} {
		answers := []answerFunc{wordy(900_000, 10), say("the notes")}
		r := newRig(t, Options{}, answers...)
		r.model.window = window
		if err := r.Run(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		if err := r.Compact(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if system := r.model.requests[1].System; !strings.Contains(system, words) {
			t.Errorf("window %d: %s", window, system)
		}
	}
}
