package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools"
)

func TestLimitsHoldBeforeARequest(t *testing.T) {
	costly := func(i int) answerFunc {
		return end("", llm.End{
			Calls: []llm.ToolCall{call("c"+string(rune('0'+i)), "read", `{}`)},
			Usage: llm.Usage{Input: 90, Output: 10, CostUSD: 0.4},
		})
	}
	for name, tt := range map[string]struct {
		limits Limits
		want   int // requests
		say    string
	}{
		"turns":  {Limits{MaxTurns: 2}, 2, "max_turns"},
		"tokens": {Limits{MaxTokens: 250}, 3, "max_session_tokens"},
		"cost":   {Limits{MaxCostUSD: 1}, 3, "max_cost_usd"},
		"none":   {Limits{}, 5, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{Limits: tt.limits}, costly(1), costly(2), costly(3), costly(4), say("fine"))
			err := r.Run(t.Context(), "go")
			if len(r.model.requests) != tt.want {
				t.Errorf("%d requests, want %d", len(r.model.requests), tt.want)
			}
			var limit *LimitError
			if tt.say == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.As(err, &limit) || !strings.Contains(limit.Reason, tt.say) || r.stop() != StopLimit {
				t.Errorf("error %v, stop %q", err, r.stop())
			}
			if notes := eventsOf[Notice](r); len(notes) != 1 {
				t.Errorf("notices %+v", notes)
			}
		})
	}
}

// A cost limit cannot be enforced if the cost of a request is unknown.
func TestCostLimitNeedsAPrice(t *testing.T) {
	two := func() []answerFunc { return []answerFunc{say("", call("a", "read", `{}`)), say("fine")} }
	for name, tt := range map[string]struct {
		limits Limits
		free   bool
		stop   Stop
	}{
		"unknown":  {Limits{MaxCostUSD: 1}, false, StopLimit},
		"free":     {Limits{MaxCostUSD: 1}, true, StopDone},
		"no limit": {Limits{}, false, StopDone},
	} {
		r := newRig(t, Options{Limits: tt.limits}, two()...)
		r.model.free = tt.free
		err := r.Run(t.Context(), "go")
		if r.stop() != tt.stop {
			t.Errorf("%s: stop %q, %v", name, r.stop(), err)
		}
		if tt.stop == StopDone {
			continue
		}
		if err := r.Run(t.Context(), "go on"); err == nil || len(r.model.requests) != 1 {
			t.Errorf("%s: %d requests were sent, %v", name, len(r.model.requests), err)
		}
		priced := &model{tb: t, answers: []answerFunc{end("fine", llm.End{Usage: llm.Usage{Input: 1, CostUSD: 0.1}})}}
		r.SetModel(priced)
		if err := r.Run(t.Context(), "go on"); err != nil {
			t.Errorf("%s: with a model that has prices: %v", name, err)
		}
	}
}

// TestTurnLimitIsPerPrompt checks that the next prompt has its own requests.
func TestTurnLimitIsPerPrompt(t *testing.T) {
	r := newRig(t, Options{Limits: Limits{MaxTurns: 1}}, say("", call("a", "read", `{}`)), say("fine"))
	if err := r.Run(t.Context(), "go"); err == nil {
		t.Error("no limit")
	}
	if err := r.Run(t.Context(), "go on"); err != nil {
		t.Error(err)
	}
}

func TestSameCallSameResult(t *testing.T) {
	a := func(id string) llm.ToolCall { return call(id, "same", `{"x":1}`) }
	b := func(id string) llm.ToolCall { return call(id, "read", `{"x":1}`) }
	for name, tt := range map[string]struct {
		calls []llm.ToolCall
		stop  Stop
		ran   int
	}{
		"three":          {[]llm.ToolCall{a("1"), a("2"), a("3"), a("4")}, StopLimit, 3},
		"another result": {[]llm.ToolCall{b("1"), b("2"), b("3"), b("4")}, StopDone, 4},
		"one between":    {[]llm.ToolCall{a("1"), a("2"), b("3"), a("4"), a("5")}, StopDone, 5},
		"other arguments": {[]llm.ToolCall{
			call("1", "same", `{"x":1}`), call("2", "same", `{"x":2}`), call("3", "same", `{"x":1}`),
		}, StopDone, 3},
		"a change each time": {[]llm.ToolCall{
			call("1", "edit", `{}`), call("2", "edit", `{}`), call("3", "edit", `{}`), call("4", "edit", `{}`),
		}, StopDone, 4},
	} {
		for _, batch := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				answers := []answerFunc{say("", tt.calls...), say("fine")}
				if !batch {
					answers = nil
					for _, c := range tt.calls {
						answers = append(answers, say("", c))
					}
					answers = append(answers, say("fine"))
				}
				r := newRig(t, Options{}, answers...)
				r.tools.tools["same"] = does(tools.Result{ForModel: "the same"})
				r.tools.tools["edit"] = does(tools.Result{ForModel: "written", Changes: []tools.FileChange{{Path: "f"}}})
				err := r.Run(t.Context(), "go")
				if r.stop() != tt.stop || len(r.tools.calls) != tt.ran {
					t.Errorf("stop %q after %d calls (%v), want %q after %d", r.stop(), len(r.tools.calls), err, tt.stop, tt.ran)
				}
				if tt.stop == StopLimit {
					r.model.answers = []answerFunc{say("fine")}
					if err := r.Run(t.Context(), "try something else"); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// A model that repeats several calls in turn is told, and stopped if it goes on.
func TestRowOfCallsRepeats(t *testing.T) {
	row := func(names ...string) (calls []llm.ToolCall) {
		for i, name := range names {
			calls = append(calls, call(strconv.Itoa(i), name, `{}`))
		}
		return calls
	}
	for name, tt := range map[string]struct {
		calls []llm.ToolCall
		told  []int // the calls whose results tell the model
		ran   int
	}{
		"two":              {row("a", "b", "a", "b", "a", "b", "a"), []int{3}, 6},
		"twice":            {row("a", "b", "a", "b", "c"), []int{3}, 5},
		"twice, and again": {row("a", "b", "a", "b", "c", "a", "b", "a", "b", "c"), []int{3}, 9},
		"three":            {row("a", "b", "c", "a", "b", "c", "a", "b", "c", "a"), []int{5}, 9},
		"five":             {row("a", "b", "c", "d", "e", "a", "b", "c", "d", "e", "a"), []int{9}, 11},
		"with one twice":   {row("a", "a", "b", "a", "a", "b", "a", "a", "b", "a"), []int{5}, 9},
		"beyond":           {row("x", "c", "d", "a", "b", "a", "b"), []int{6}, 7},
		"a change between": {row("a", "b", "edit", "a", "b", "edit", "a", "b", "edit"), nil, 9},
		"another row":      {row("a", "b", "a", "b", "c", "d", "c", "d", "c", "d", "x"), []int{3, 7}, 10},
		"a row and back":   {row("a", "b", "a", "b", "c", "d", "c", "d", "b", "a", "b", "a", "x"), []int{3, 7}, 12},
		"other results":    {row("a", "read", "a", "read", "a", "read", "a", "read"), nil, 8},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{}, say("", tt.calls...), say("fine"))
			for _, name := range []string{"a", "b", "c", "d", "e", "x"} {
				r.tools.tools[name] = does(tools.Result{ForModel: "the same"})
			}
			r.tools.tools["edit"] = does(tools.Result{ForModel: "written", Changes: []tools.FileChange{{Path: "f"}}})
			err := r.Run(t.Context(), "go")
			if len(r.tools.calls) != tt.ran || (err != nil) != (tt.ran < len(tt.calls)) {
				t.Errorf("%d calls ran, want %d: %v", len(r.tools.calls), tt.ran, err)
			}
			var told []int
			for i, m := range r.Messages()[2:] {
				if strings.Contains(m.Text(), "You repeat the same") {
					told = append(told, i)
				}
			}
			if diff := cmp.Diff(tt.told, told); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A model that repeats a failing call in other words would never stop, and pay for the
// whole conversation each time.
func TestSameFailure(t *testing.T) {
	fail := func(n int) (calls []llm.ToolCall) {
		for i := range n {
			calls = append(calls, call(strconv.Itoa(i), "fails", fmt.Sprintf(`{"try":%d}`, i)))
		}
		return calls
	}
	for name, tt := range map[string]struct {
		calls []llm.ToolCall
		ran   int
	}{
		"five":       {fail(7), 5},
		"four":       {fail(4), 4},
		"interposed": {slices.Concat(fail(4), []llm.ToolCall{call("r", "read", `{}`), call("x", "fails", `{}`)}), 6},
		"denied":     {[]llm.ToolCall{call("1", "denied", `{"a":1}`), call("2", "denied", `{"a":2}`), call("3", "denied", `{"a":3}`), call("4", "denied", `{"a":4}`), call("5", "denied", `{"a":5}`)}, 5},
	} {
		r := newRig(t, Options{}, say("", tt.calls...), say("fine"))
		r.tools.tools["fails"] = does(tools.Result{ForModel: "no such file", Failed: true})
		r.tools.tools["denied"] = does(tools.Result{ForModel: "nobody could be asked", Failed: true, Denied: &tools.Denied{}})
		err := r.Run(t.Context(), "go")
		if len(r.tools.calls) != tt.ran || (err != nil) != (tt.ran < len(tt.calls)) {
			t.Errorf("%s: %d calls ran, want %d: %v", name, len(r.tools.calls), tt.ran, err)
		}
	}
}

// TestQueuedTextEndsARow checks that the user's text interrupts a row of equal calls.
func TestQueuedTextEndsARow(t *testing.T) {
	r := newRig(t, Options{Queued: func(context.Context) []string { return []string{"again"} }},
		say("", call("1", "same", `{}`)), say("", call("2", "same", `{}`)), say("", call("3", "same", `{}`)), say("fine"))
	r.tools.tools["same"] = func(context.Context, tools.Call) (tools.Result, error) {
		return tools.Result{ForModel: "the same"}, nil
	}
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Error(err)
	}
}

// A limit of cents is not shown as $0.00.
func TestSmallAmounts(t *testing.T) {
	l := Limits{MaxCostUSD: 0.004}
	err := l.check(spent{used: llm.Usage{CostUSD: 0.0123}})
	if err == nil || !strings.Contains(err.Reason, "Cost limit reached: $0.0123 of $0.0040") || l.amount(costLimit) != "$0.0040" {
		t.Errorf("%v, %s", err, l.amount(costLimit))
	}
}
