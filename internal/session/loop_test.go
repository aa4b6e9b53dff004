package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// short formats a conversation, a line per message.
func short(msgs []llm.Message) []string {
	var out []string
	for _, m := range msgs {
		line := string(m.Role) + ": " + m.Text()
		for _, c := range m.Calls {
			line += " " + c.ID + "=" + c.Name + c.Args
		}
		if m.CallID != "" {
			line = string(m.Role) + " " + m.CallID + ": " + m.Text()
		}
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

func wantChat(t *testing.T, got []llm.Message, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, short(got)); diff != "" {
		t.Errorf("conversation (-want +got):\n%s", diff)
	}
}

func TestRunAnswersAndRunsCalls(t *testing.T) {
	r := newRig(t, Options{System: func(context.Context) string { return "be good" }},
		say("I look.", call("a", "read", `{"n":1}`), call("b", "read", `{"n":2}`)),
		say("Done."))
	if err := r.Run(t.Context(), "hello"); err != nil {
		t.Fatal(err)
	}
	wantChat(t, r.Messages(), "user: hello",
		`assistant: I look. a=read{"n":1} b=read{"n":2}`, "tool a: content of a", "tool b: content of b",
		"assistant: Done.")
	if r.model.requests[0].System != "be good" {
		t.Errorf("system prompt %q", r.model.requests[0].System)
	}
	if got := r.account.used(); got.Input != 20 || got.Output != 4 {
		t.Errorf("usage %+v", got)
	}
	var kinds []string
	for _, ev := range r.events {
		kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", ev), "session."))
	}
	want := []string{
		"TurnStarted", "RequestStarted", "TextDelta", "AnswerEnded", "CallStarted", "CallEnded",
		"CallStarted", "CallEnded", "RequestStarted", "TextDelta", "AnswerEnded", "TurnEnded",
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if r.stop() != StopDone {
		t.Errorf("stop %q", r.stop())
	}
}

// TestCallCarriesItsPlace checks the batch that a reviewer sees beside the question.
func TestCallCarriesItsPlace(t *testing.T) {
	long := strings.Repeat("words ", 100)
	r := newRig(t, Options{}, say("First,\n I  look.", call("a", "read", `{}`), call("b", "read", `{}`)),
		say(long, call("c", "read", `{}`)), say("x"))
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	a, b, c := r.tools.calls[0], r.tools.calls[1], r.tools.calls[2]
	if a.Description != "First, I look." || b.Description != a.Description {
		t.Errorf("descriptions %q and %q", a.Description, b.Description)
	}
	if want := strings.TrimSpace(strings.Repeat("words ", 33)) + "…"; c.Description != want {
		t.Errorf("the long description is %q", c.Description)
	}
	if a.Batch.Index != 0 || b.Batch.Index != 1 || b.Batch.Total != 2 || a.Batch.ID != b.Batch.ID || c.Batch.ID == a.Batch.ID {
		t.Errorf("batches %+v %+v %+v", a.Batch, b.Batch, c.Batch)
	}
	if len(b.Batch.Calls) != 2 || b.Batch.Calls[1] != "read()" || len(c.Batch.Calls) != 1 {
		t.Errorf("calls %q and %q", b.Batch.Calls, c.Batch.Calls)
	}
	if d := cmp.Diff([][]string{{}, {"12 lines"}, {}}, [][]string{a.Batch.Done, b.Batch.Done, c.Batch.Done}); d != "" {
		t.Errorf("done: %s", d)
	}
	if a.Turn == "" || a.Turn != c.Turn {
		t.Errorf("turns %q %q", a.Turn, c.Turn)
	}
}

func TestNoWithoutCommentStopsTheTurn(t *testing.T) {
	r := newRig(t, Options{}, say("", call("a", "read", `{}`), call("b", "no", `{}`), call("c", "read", `{}`)), say("later"))
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if r.stop() != StopDenied {
		t.Errorf("stop %q", r.stop())
	}
	if diff := cmp.Diff([]string{"a", "b"}, r.tools.ran()); diff != "" {
		t.Errorf("ran:\n%s", diff)
	}
	if err := r.Run(t.Context(), "then this"); err != nil {
		t.Fatal(err)
	}
	wantChat(t, r.model.last(), "user: go", "assistant:  a=read{} b=no{} c=read{}",
		"tool a: content of a", "tool b: declined", "tool c: "+resultNotRun, "user: then this")
}

func TestCancelBetweenCalls(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := newRig(t, Options{}, say("", call("a", "cancel", `{}`), call("b", "read", `{}`)), say("fine"))
	r.tools.tools["cancel"] = func(context.Context, tools.Call) (tools.Result, error) {
		cancel()
		return tools.Result{ForModel: "done in time"}, nil
	}
	if err := r.Run(ctx, "go"); !errors.Is(err, context.Canceled) || r.stop() != StopCancelled {
		t.Fatalf("error %v, stop %q", err, r.stop())
	}
	if err := r.Run(t.Context(), "next"); err != nil {
		t.Fatal(err)
	}
	wantChat(t, r.model.last(), "user: go", "assistant:  a=cancel{} b=read{}",
		"tool a: done in time", "tool b: "+resultNotStarted, "user: next")
}

func TestCancelWithinACall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := newRig(t, Options{Queued: func(context.Context) []string { return []string{"typed"} }},
		say("", call("a", "wait", `{}`), call("b", "read", `{}`)))
	r.tools.tools["wait"] = func(ctx context.Context, _ tools.Call) (tools.Result, error) {
		cancel()
		<-ctx.Done()
		return tools.Result{}, ctx.Err()
	}
	if err := r.Run(ctx, "go"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	wantChat(t, r.Messages(), "user: go", "assistant:  a=wait{} b=read{}",
		"tool a: "+resultCancelled, "tool b: "+resultNotStarted)
	if ended := eventsOf[CallEnded](r); len(ended) != 1 || !ended[0].Result.Failed {
		t.Errorf("ended calls: %+v", ended)
	}
}

// A call that ran and then led to a question keeps its result if nobody answers.
func TestCancelAtASecondQuestion(t *testing.T) {
	for name, cause := range map[string]error{"by the user": nil, "by the end of the program": ErrEnded} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			r := newRig(t, Options{}, say("", call("a", "again", `{}`)))
			r.tools.tools["again"] = func(ctx context.Context, _ tools.Call) (tools.Result, error) {
				cancel(cause)
				return tools.Result{ForModel: "exit code: 1", Ran: true}, tools.UnansweredError{Err: ctx.Err()}
			}
			if err := r.Run(ctx, "go"); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			wantChat(t, r.Messages(), "user: go", "assistant:  a=again{}", "tool a: exit code: 1"+resultNoFurther)
		})
	}
}

// A call whose question nobody answered did nothing, and the user reads that.
func TestCancelAtAQuestion(t *testing.T) {
	for want, res := range map[string]tools.Result{"cancelled": {}, "not finished": {ForModel: "exit code: 1", Ran: true}} {
		ctx, cancel := context.WithCancel(t.Context())
		r := newRig(t, Options{}, say("", call("a", "ask", `{}`)))
		r.tools.tools["ask"] = func(ctx context.Context, _ tools.Call) (tools.Result, error) {
			cancel()
			return res, tools.UnansweredError{Err: ctx.Err()}
		}
		if err := r.Run(ctx, "go"); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if ended := eventsOf[CallEnded](r); len(ended) != 1 || ended[0].Result.ForUser != want {
			t.Errorf("ended calls: %+v, want %q", ended, want)
		}
	}
}

func TestCancelInMidStreamKeepsTheText(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := newRig(t, Options{}, hang("The first half", cancel), say("fine"))
	if err := r.Run(ctx, "go"); !errors.Is(err, context.Canceled) || r.stop() != StopCancelled {
		t.Fatalf("error %v, stop %q", err, r.stop())
	}
	if err := r.Run(t.Context(), "next"); err != nil {
		t.Fatal(err)
	}
	wantChat(t, r.model.last(), "user: go", "assistant: The first half "+markCancelled, "user: next")
}

func TestCancelBeforeAnyText(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := newRig(t, Options{}, hang("", cancel), say("fine"))
	if err := r.Run(ctx, "go"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := r.Run(t.Context(), "next"); err != nil {
		t.Fatal(err)
	}
	wantChat(t, r.model.last(), "user: go", "assistant: "+markNoAnswer, "user: next")
}

// Models that require prompts and answers to alternate would refuse the session for
// good after one failed request.
func TestNoTwoPromptsInARow(t *testing.T) {
	for name, answers := range map[string][]answerFunc{
		"failed twice":   {breakOff("", errors.New("x")), breakOff("", errors.New("x")), say("fine")},
		"queued, failed": {say("", call("a", "read", `{}`)), breakOff("", errors.New("x")), say("fine")},
	} {
		queued := []string{"and this"}
		r := newRig(t, Options{Queued: func(context.Context) []string { q := queued; queued = nil; return q }}, answers...)
		for err := r.Run(t.Context(), "go"); err != nil; {
			err = r.Run(t.Context(), "next")
		}
		before := llm.Role("")
		for _, m := range r.Messages() {
			if m.Role == llm.User && before == llm.User {
				t.Errorf("%s: two prompts in a row: %+v", name, r.Messages())
			}
			before = m.Role
		}
	}
}

func TestBrokenStream(t *testing.T) {
	for name, tt := range map[string]struct {
		answer answerFunc
		want   []string
	}{
		"after text": {breakOff("The first half", errors.New("reset by peer")), []string{"user: go", "assistant: The first half " + markBroken, "user: next"}},
		"at once":    {breakOff("", errors.New("secret error text")), []string{"user: go", "assistant: " + markNoAnswer, "user: next"}},
		"without end": {
			func(_ context.Context, yield func(llm.Delta, error) bool) { yield(llm.Delta{Text: "half"}, nil) },
			[]string{"user: go", "assistant: half " + markBroken, "user: next"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{}, tt.answer, say("fine"))
			if err := r.Run(t.Context(), "go"); err == nil || r.stop() != StopFailed {
				t.Fatalf("error %v, stop %q", err, r.stop())
			}
			if err := r.Run(t.Context(), "next"); err != nil {
				t.Fatal(err)
			}
			wantChat(t, r.model.last(), tt.want...)
		})
	}
}

func TestToolErrorEndsTheTurn(t *testing.T) {
	r := newRig(t, Options{}, say("", call("a", "error", `{}`), call("b", "read", `{}`)), say("fine"))
	err := r.Run(t.Context(), "go")
	if err == nil || !strings.Contains(err.Error(), "disk on fire") || r.stop() != StopFailed {
		t.Fatalf("error %v, stop %q", err, r.stop())
	}
	if err := r.Run(t.Context(), "next"); err != nil {
		t.Fatal(err)
	}
	wantChat(t, r.model.last(), "user: go", "assistant:  a=error{} b=read{}",
		"tool a: Failed: disk on fire. Its effect is unknown; check before repeating it.", "tool b: "+resultAfterError, "user: next")
}

func TestPanicIsAResult(t *testing.T) {
	r := newRig(t, Options{}, say("", call("a", "panic", `{}`), call("b", "title_panics", `{}`), call("c", "read", `{}`)), say("fine"))
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	ended := eventsOf[CallEnded](r)
	if len(ended) != 3 || !ended[0].Result.Failed || !strings.Contains(ended[0].Result.ForModel, "boom") {
		t.Errorf("ended calls: %+v", ended)
	}
	if ended[1].Title != "title_panics" {
		t.Errorf("title %q", ended[1].Title)
	}
}

// TestMalformedCallsNeverRun covers calls that the provider's adapter marks, calls that
// it should have marked, and any call of an answer that was cut off.
func TestMalformedCallsNeverRun(t *testing.T) {
	cut := func(why llm.StopReason) answerFunc {
		return end("", llm.End{Stop: why, Calls: []llm.ToolCall{call("a", "read", `{"whole":true}`)}})
	}
	for name, tt := range map[string]struct {
		answer answerFunc
		want   string
	}{
		"marked":      {say("", llm.ToolCall{ID: "a", Name: "read", Args: "{}", Problem: "cut off"}), "cut off"},
		"no object":   {say("", call("a", "read", `[1]`)), "not a JSON object"},
		"half":        {say("", call("a", "read", `{"x":`)), "not a JSON object"},
		"empty":       {say("", call("a", "read", ``)), "not a JSON object"},
		"no name":     {say("", call("a", "", `{}`)), "no tool has that name"},
		"bad name":    {say("", call("a", "read the file", `{}`)), "no tool has that name"},
		"length stop": {cut(llm.StopLength), "token limit"},
		"filter stop": {cut(llm.StopFilter), "content filter"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{}, tt.answer, say("fine"))
			if err := r.Run(t.Context(), "go"); err != nil {
				t.Fatal(err)
			}
			if len(r.tools.calls) != 0 {
				t.Errorf("ran %v", r.tools.ran())
			}
			msgs := r.Messages()
			if got := msgs[2].Text(); !strings.Contains(got, tt.want) {
				t.Errorf("result %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSameIDTwiceRunsOnce(t *testing.T) {
	r := newRig(t, Options{}, say("", call("a", "read", `{}`), call("a", "read", `{}`), call("a_2", "read", `{}`)),
		say("", call("a", "read", `{"again":1}`), call("", "read", `{}`)), say("fine"))
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	// The second answer's "a" is another call, which runs under its own id.
	if diff := cmp.Diff([]string{"a", "a_2", "a_3", "call_3"}, r.tools.ran()); diff != "" {
		t.Errorf("ran:\n%s", diff)
	}
	if notes := eventsOf[Notice](r); len(notes) != 1 || !strings.Contains(notes[0].Text, "each runs once") {
		t.Errorf("notices %+v", notes)
	}
}

// TestEmptyAnswer asks again for an empty answer, and fails after a second one. Nothing of
// them is kept; text typed meanwhile makes no second prompt in a row.
func TestEmptyAnswer(t *testing.T) {
	empty := end(" \n", llm.End{Stop: llm.StopEnd, Usage: llm.Usage{Input: 5}})
	queued := []string{"also"}
	opt := Options{Queued: func(context.Context) []string {
		q := queued
		queued = nil
		return q
	}}
	r := newRig(t, opt, empty, say("I look.", call("a", "read", `{}`)), empty, say("fine"), empty, empty, say("here"))
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	asked := []string{"user: go", `assistant: I look. a=read{}`, "tool a: content of a", "user: also", "assistant: fine"}
	wantChat(t, r.Messages(), asked...)
	if n := len(r.model.requests); n != 4 {
		t.Errorf("%d requests", n)
	}
	if err := r.Run(t.Context(), "next"); !errors.Is(err, errEmptyAnswer) || r.stop() != StopFailed {
		t.Errorf("error %v, stop %q", err, r.stop())
	}
	if got := r.account.used().Input; got != 40 {
		t.Errorf("%d tokens of input", got)
	}
	if err := r.Run(t.Context(), "there?"); err != nil {
		t.Fatal(err)
	}
	wantChat(t, r.model.last(), append(asked, "user: next", "assistant: "+markNoAnswer, "user: there?")...)
}

func TestCutAnswers(t *testing.T) {
	for _, tt := range []struct {
		why  llm.StopReason
		want Stop
	}{{llm.StopLength, StopLimit}, {llm.StopFilter, StopFailed}} {
		r := newRig(t, Options{}, end("half", llm.End{Stop: tt.why}))
		if err := r.Run(t.Context(), "go"); err == nil || r.stop() != tt.want {
			t.Errorf("%s: error %v, stop %q", tt.why, err, r.stop())
		}
		wantChat(t, r.Messages(), "user: go", "assistant: half")
	}
}

// TestQueuedTextComesAfterTheBatch checks I1 with text typed during a batch.
func TestQueuedTextComesAfterTheBatch(t *testing.T) {
	queue := []string{"also this", "and that"}
	r := newRig(t, Options{Queued: func(context.Context) []string {
		defer func() { queue = nil }()
		return queue
	}}, say("", call("a", "read", `{}`), call("b", "read", `{}`)), say("fine"))
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	wantChat(t, r.model.last(), "user: go", "assistant:  a=read{} b=read{}",
		"tool a: content of a", "tool b: content of b", "user: also this\n\nand that")
	if got := eventsOf[Queued](r); len(got) != 1 || got[0].Text != "also this\n\nand that" {
		t.Errorf("queued events %+v", got)
	}
}

func TestOutputIsOrderedAndEndsWithTheCall(t *testing.T) {
	var late func(string)
	r := newRig(t, Options{}, say("", call("a", "loud", `{}`)), say("fine"))
	r.tools.tools["loud"] = func(_ context.Context, c tools.Call) (tools.Result, error) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 100 {
					c.Progress("x")
				}
			})
		}
		wg.Wait()
		late = c.Progress
		return tools.Result{ForModel: "ok"}, nil
	}
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	late("too late")
	if got := len(eventsOf[CallOutput](r)); got != 800 {
		t.Errorf("%d output events, want 800", got)
	}
}

func TestReasoningIsKeptApart(t *testing.T) {
	r := newRig(t, Options{}, func(_ context.Context, yield func(llm.Delta, error) bool) {
		_ = yield(llm.Delta{Reasoning: "hmm"}, nil) && yield(llm.Delta{Text: "yes"}, nil) &&
			yield(llm.Delta{Pending: &llm.Pending{Name: "x"}}, nil) &&
			yield(llm.Delta{End: &llm.End{Extra: []byte(`{"k":1}`)}}, nil)
	})
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	want := llm.Message{Role: llm.Assistant, Extra: []byte(`{"k":1}`), Parts: []llm.Part{
		{Kind: llm.ReasoningPart, Text: "hmm"}, {Kind: llm.TextPart, Text: "yes"},
	}}
	if diff := cmp.Diff(want, r.Messages()[1]); diff != "" {
		t.Error(diff)
	}
	if len(eventsOf[ReasoningDelta](r)) != 1 || len(eventsOf[CallPending](r)) != 1 {
		t.Errorf("events %+v", r.events)
	}
}

// TestCallsWithoutWordsHaveNoText: some servers refuse an empty text beside calls.
func TestCallsWithoutWordsHaveNoText(t *testing.T) {
	r := newRig(t, Options{}, say("", call("a", "read", `{}`)), say("Done."))
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if m := r.Messages()[1]; len(m.Calls) != 1 || len(m.Parts) != 0 {
		t.Errorf("the answer is %+v", m)
	}
}

// TestARetryVoidsTheAnswerSoFar keeps only what came after the retry.
func TestARetryVoidsTheAnswerSoFar(t *testing.T) {
	r := newRig(t, Options{}, func(_ context.Context, yield func(llm.Delta, error) bool) {
		retry := llm.Delta{Retry: &llm.Retry{Attempt: 2}}
		_ = yield(retry, nil) && yield(llm.Delta{Reasoning: "hm"}, nil) && yield(llm.Delta{Text: "ye"}, nil) && yield(retry, nil) &&
			yield(llm.Delta{Text: "yes"}, nil) && yield(llm.Delta{End: &llm.End{}}, nil)
	})
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(llm.TextMessage(llm.Assistant, "yes"), r.Messages()[1]); diff != "" {
		t.Error(diff)
	}
	if got := eventsOf[Retrying](r); len(got) != 2 || got[0].Void || !got[1].Void {
		t.Errorf("retries %+v", got)
	}
}

// TestAHalfIsShownOnce retries an answer that breaks off again and again: its beginning is shown
// once, and again only together with something new.
func TestAHalfIsShownOnce(t *testing.T) {
	r := newRig(t, Options{}, func(_ context.Context, yield func(llm.Delta, error) bool) {
		for _, half := range []string{"one two", "one two", "one", "", "one two three", "one two"} {
			for _, piece := range strings.SplitAfter(half, " ") {
				if piece != "" && !yield(llm.Delta{Text: piece}, nil) {
					return
				}
			}
			if !yield(llm.Delta{Retry: &llm.Retry{}}, nil) {
				return
			}
		}
		_ = yield(llm.Delta{Text: "one two "}, nil) && yield(llm.Delta{Text: "three four"}, nil) && yield(llm.Delta{Text: "."}, nil) && yield(llm.Delta{End: &llm.End{}}, nil)
	})
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	for _, ev := range r.events {
		switch ev := ev.(type) {
		case TextDelta:
			shown.WriteString(ev.Text)
		case Retrying:
			shown.WriteString(map[bool]string{true: "| ", false: "- "}[ev.Void])
		}
	}
	if want := "one two| - - - one two three| - one two three four."; shown.String() != want {
		t.Errorf("shown %q, want %q", shown.String(), want)
	}
	if got := r.Messages()[1].Text(); got != "one two three four." {
		t.Errorf("kept %q", got)
	}
}

func TestTextThatIsNotUTF8(t *testing.T) {
	r := newRig(t, Options{}, say("a\xffb", call("a", "raw", `{}`)), say("fine"))
	r.tools.tools["raw"] = does(tools.Result{ForModel: "\xfe"})
	if err := r.Run(t.Context(), "p\xff"); err != nil {
		t.Fatal(err)
	}
	wantChat(t, r.model.last(), "user: p\uFFFD", "assistant: a\uFFFDb a=raw{}", "tool a: \uFFFD")
}

func TestEmptyPromptAndResult(t *testing.T) {
	r := newRig(t, Options{}, say("", call("a", "mute", `{}`)), say("fine"))
	if err := r.Run(t.Context(), " \n"); err == nil || len(r.Messages()) != 0 {
		t.Errorf("an empty prompt: error %v, %d messages", err, len(r.Messages()))
	}
	r.tools.tools["mute"] = does(tools.Result{})
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	wantChat(t, r.model.last(), "user: go", "assistant:  a=mute{}", "tool a: (no output)")
}

func TestNewWantsModelAndTools(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("no error")
	}
}

func TestSetModel(t *testing.T) {
	r := newRig(t, Options{}, say("one"))
	other := &model{tb: t, answers: []answerFunc{say("two")}}
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	r.SetModel(other)
	if err := r.Run(t.Context(), "go on"); err != nil {
		t.Fatal(err)
	}
	wantChat(t, other.last(), "user: go", "assistant: one", "user: go on")
}

// BuildMessage changes the message that is sent; the title stays the user's text.
func TestPromptsAreComposed(t *testing.T) {
	compose := func(_ context.Context, prompt string) llm.Message {
		return llm.Message{Role: llm.User, Parts: []llm.Part{
			{Kind: llm.TextPart, Text: "[note] ", Aside: true}, {Kind: llm.TextPart, Text: prompt},
		}}
	}
	queued := []string{"and this"}
	r := newRig(t, Options{BuildMessage: compose, Queued: func(context.Context) []string {
		texts := queued
		queued = nil
		return texts
	}}, say("I look.", call("a", "read", `{}`)), say("Done."))
	if err := r.Run(t.Context(), "hello"); err != nil {
		t.Fatal(err)
	}
	wantChat(t, r.Messages(), "user: [note] hello", "assistant: I look. a=read{}", "tool a: content of a",
		"user: [note] and this", "assistant: Done.")
	var said []string
	for _, p := range r.Prompts() {
		said = append(said, p.Text)
	}
	if diff := cmp.Diff([]string{"hello", "and this"}, said); diff != "" {
		t.Error(diff)
	}
}
