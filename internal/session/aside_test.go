package session

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// asides is a rig whose model is asked aside at several places. Each answer says which one.
type asides struct {
	*rig
	asked []string
}

func (a *asides) ask(t *testing.T, where string) {
	t.Helper()
	a.model.answers = append([]answerFunc{say("aside " + where)}, a.model.answers...)
	if got, err := a.Aside(t.Context(), "", where+"?"); got != "aside "+where || err != nil {
		t.Errorf("%s: %q, %v", where, got, err)
	}
	a.asked = append(a.asked, where)
}

// A side question is asked before a turn, while the model answers, between two calls, and after the
// turn. Its request is the conversation's, completed; it counts; and it leaves no trace
// in the conversation.
func TestAside(t *testing.T) {
	kept := archive.New(t.TempDir())
	store := kept.Create(t.TempDir(), "test/model")
	r := &asides{rig: newRig(t, Options{Store: store}, nil, say("done"))}
	r.model.answers[0] = func(ctx context.Context, yield func(llm.Delta, error) bool) {
		r.ask(t, "answering")
		say("on it", call("a", "read", "{}"), call("b", "look", "{}"), call("c", "read", "{}"))(ctx, yield)
	}
	r.tools.tools["look"] = func(context.Context, tools.Call) (tools.Result, error) {
		r.ask(t, "calling")
		return tools.Result{ForModel: "seen"}, nil
	}
	r.ask(t, "before")
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	r.ask(t, "after")
	want := [][]string{
		{"user: before"},
		{"user: go"},
		{"user: go", "assistant: " + markWorks, "user: answering"},
		{"user: go", "assistant: on it a=read{} b=look{} c=read{}", "tool a: content of a", "tool b: " + markRuns, "tool c: " + markRuns, "user: calling"},
		{"user: go", "assistant: on it a=read{} b=look{} c=read{}", "tool a: content of a", "tool b: seen", "tool c: content of c"},
		{"user: go", "assistant: on it a=read{} b=look{} c=read{}", "tool a: content of a", "tool b: seen", "tool c: content of c", "assistant: done", "user: after"},
	}
	var bodies [][]byte
	for i, req := range r.model.requests {
		last := &req.Messages[len(req.Messages)-1]
		if text, ok := strings.CutPrefix(last.Text(), sideQuestion); ok {
			*last = llm.TextMessage(llm.User, strings.TrimSuffix(text, "?"))
		}
		wantChat(t, req.Messages, want[i]...)
		bodies = append(bodies, bytes.TrimSuffix(newWire().bytes(t.Context(), t, req), []byte("]}")))
	}
	for of, begin := range map[int]int{2: 1, 3: 1, 5: 4} {
		if !bytes.HasPrefix(bodies[of], bodies[begin]) {
			t.Errorf("request %d does not begin as request %d: %s, %s", of, begin, bodies[of], bodies[begin])
		}
	}
	wantChat(t, r.Messages(), want[5][:6]...)
	if got := r.account.used(); got.Input != 60 || got.Output != 12 || len(eventsOf[Spent](r.rig)) != 4 {
		t.Errorf("%+v, %d events", got, len(eventsOf[Spent](r.rig)))
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	_, saved, err := kept.Read(store.ID())
	if err != nil || saved.Usage.Input != 60 {
		t.Errorf("saved: %+v, %v", saved.Usage, err)
	}
	if diff := cmp.Diff(r.Messages(), saved.Messages()); diff != "" {
		t.Error(diff)
	}
}

// A side question before any prompt leaves no file.
func TestAsideInAnEmptySession(t *testing.T) {
	kept := archive.New(t.TempDir())
	store := kept.Create(t.TempDir(), "test/model")
	r := &asides{rig: newRig(t, Options{Store: store})}
	r.ask(t, "alone")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := kept.Read(store.ID()); !errors.Is(err, archive.ErrNoSession) {
		t.Errorf("saved: %v", err)
	}
}

func TestAsideFails(t *testing.T) {
	broken := errors.New("no connection")
	for name, tt := range map[string]struct {
		limits Limits
		answer answerFunc
		want   string
	}{
		"only a call":       {answer: say("", call("a", "read", "{}")), want: errNoWords.Error()},
		"empty":             {answer: say(" \n"), want: "the model gave an empty answer: ask again, or ask another model"},
		"filtered":          {answer: end("so", llm.End{Stop: llm.StopFilter}), want: "the provider's content filter ended the answer; rephrase the question"},
		"broken":            {answer: breakOff("so", broken), want: broken.Error()},
		"the session's":     {limits: Limits{MaxTokens: 10}, want: "Token limit reached: 12 of 10 (max_session_tokens). Raise the limit or start a new session."},
		"for lack of price": {limits: Limits{MaxCostUSD: 10}, want: unpriced("max_cost_usd")},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{Limits: tt.limits}, say("hello"), tt.answer)
			if err := r.Run(t.Context(), "go"); err != nil {
				t.Fatal(err)
			}
			if text, err := r.Aside(t.Context(), "", "why?"); err == nil || err.Error() != tt.want || text != "" {
				t.Errorf("%q, %v", text, err)
			}
			if len(r.tools.calls) != 0 || len(r.Messages()) != 2 {
				t.Errorf("%d calls, %d messages", len(r.tools.calls), len(r.Messages()))
			}
		})
	}
}

// Words beside a call are the answer; the call is not run. An answer that was cut has a mark.
func TestAsideWords(t *testing.T) {
	r := newRig(t, Options{}, say("It is 4.", call("a", "read", "{}")), end("It is", llm.End{Stop: llm.StopLength}), end("Yes. <call>", llm.End{Written: 6}))
	for _, want := range []string{"It is 4.", "It is\n\n[the answer hit the model's output limit]", "Yes."} {
		if text, err := r.Aside(t.Context(), "", "what?"); text != want || err != nil {
			t.Errorf("%q, %v", text, err)
		}
	}
	if len(r.tools.calls) != 0 {
		t.Errorf("%d calls", len(r.tools.calls))
	}
}

// TestAsideOfAPriceyConversation: the part that the provider's cache lacks counts.
func TestAsideOfAPriceyConversation(t *testing.T) {
	clock := time.Now()
	r := newRig(t, Options{Limits: Limits{MaxRequestUSD: 0.01}, Now: func() time.Time { return clock }},
		end("hello", llm.End{Usage: llm.Usage{Input: 20_000, CostUSD: 0.02}}), say("cached"))
	r.model.inputUSD = 1
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if text, err := r.Aside(t.Context(), "", "why?"); text != "cached" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	clock = clock.Add(cacheLife)
	if _, err := r.Aside(t.Context(), "", "why?"); err == nil || !strings.HasPrefix(err.Error(), "The next request costs about $0.0") {
		t.Error(err)
	}
}
