package session

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// limitAsker answers the questions at limits in turn; then it says no.
type limitAsker struct {
	answers []confirm.Verdict
	asked   []confirm.Limit
}

func (a *limitAsker) Ask(_ context.Context, req confirm.Request) (confirm.Verdict, error) {
	a.asked = append(a.asked, *confirm.As[*confirm.Limit](req))
	if len(a.answers) == 0 {
		return confirm.Verdict{}, nil
	}
	v := a.answers[0]
	a.answers = a.answers[1:]
	return v, nil
}

// daily is the cost of a day.
type daily struct {
	usd         float64
	err, addErr error
}

func (d *daily) Today() (float64, error)                { return d.usd, d.err }
func (d *daily) Add(_ context.Context, u float64) error { d.usd += u; return d.addErr }

func TestLimitsAsk(t *testing.T) {
	once, extend := confirm.Verdict{Decision: confirm.Approve}, confirm.Verdict{Decision: confirm.Approve, Session: true}
	costly := end("", llm.End{
		Calls: []llm.ToolCall{call("c", "read", `{}`)}, Usage: llm.Usage{Input: 90, Output: 10, CostUSD: 0.5},
	})
	for name, tt := range map[string]struct {
		limits  Limits
		answers []confirm.Verdict
		want    int // requests
		asked   []confirm.Limit
	}{
		"stop": {Limits{MaxTurns: 2}, nil, 2, []confirm.Limit{{Reached: "Request limit reached: 2 of 2 for this prompt (max_turns)", Step: "2 requests"}}},
		"once": {Limits{MaxTokens: 200}, []confirm.Verdict{once}, 3, []confirm.Limit{
			{Reached: "Token limit reached: 200 of 200 (max_session_tokens)", Step: "200 tokens"},
			{Reached: "Token limit reached: 300 of 200 (max_session_tokens)", Step: "200 tokens"},
		}},
		"once at one of two": {Limits{MaxTurns: 2, MaxTokens: 200}, []confirm.Verdict{once}, 2, []confirm.Limit{
			{Reached: "Request limit reached: 2 of 2 for this prompt (max_turns)", Step: "2 requests"},
			{Reached: "Token limit reached: 200 of 200 (max_session_tokens)", Step: "200 tokens"},
		}},
		"extend": {Limits{MaxCostUSD: 1}, []confirm.Verdict{extend}, 4, []confirm.Limit{
			{Reached: "Cost limit reached: $1.00 of $1.00 (max_cost_usd)", Step: "$1.00"},
			{Reached: "Cost limit reached: $2.00 of $2.00 (max_cost_usd)", Step: "$1.00"},
		}},
		"day": {Limits{MaxDayUSD: 1}, []confirm.Verdict{extend}, 4, []confirm.Limit{
			{Reached: "Daily cost limit reached: $1.25 of $1.00 (max_cost_usd_per_day)", Step: "$1.00"},
			{Reached: "Daily cost limit reached: $2.25 of $2.00 (max_cost_usd_per_day)", Step: "$1.00"},
		}},
		"time": {Limits{MaxTime: 3 * time.Minute}, []confirm.Verdict{extend}, 6, []confirm.Limit{
			{Reached: "Time limit reached: 3m0s of 3m0s for this prompt (max_minutes)", Step: "3m0s"},
			{Reached: "Time limit reached: 6m0s of 6m0s for this prompt (max_minutes)", Step: "3m0s"},
		}},
		"a rule": {Limits{MaxTurns: 1}, []confirm.Verdict{{Decision: confirm.Approve, Rule: true}}, 1, []confirm.Limit{
			{Reached: "Request limit reached: 1 of 1 for this prompt (max_turns)", Step: "1 request"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ask := &limitAsker{answers: tt.answers}
			day := &daily{usd: 0.25}
			var clock time.Time
			r := newRig(t, Options{Limits: tt.limits, Ask: ask, Spending: day, Now: func() time.Time { return clock }})
			for range 8 {
				r.model.answers = append(r.model.answers, func(ctx context.Context, yield func(llm.Delta, error) bool) {
					clock = clock.Add(time.Minute)
					costly(ctx, yield)
				})
			}
			err := r.Run(t.Context(), "go")
			var limit *LimitError
			if !errors.As(err, &limit) || len(r.model.requests) != tt.want {
				t.Errorf("%d requests, want %d; %v", len(r.model.requests), tt.want, err)
			}
			if d := cmp.Diff(tt.asked, ask.asked); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestTimeEndsACall: while nobody can be asked, the limit of time ends a call and a request that
// never end; otherwise the question comes after them.
func TestTimeEndsACall(t *testing.T) {
	for name, model := range map[string]func(context.Context, func(llm.Delta, error) bool){
		"call": say("", call("a", "wait", `{}`), call("b", "read", `{}`)), "request": hang("The first half", func() {}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Options{Limits: Limits{MaxTime: 3 * time.Minute, MaxTurns: 9, Unattended: true}, Now: time.Now}, model)
				r.tools.tools["wait"] = func(ctx context.Context, _ tools.Call) (tools.Result, error) {
					<-ctx.Done()
					return tools.Result{}, ctx.Err()
				}
				began := time.Now()
				err := r.Run(t.Context(), "go")
				var limit *LimitError
				if !errors.As(err, &limit) || r.stop() != StopLimit || !strings.Contains(err.Error(), "Time limit reached: 3m0s of 3m0s for this prompt (max_minutes)") {
					t.Errorf("%v, stop %q", err, r.stop())
				}
				if took := time.Since(began); took != 3*time.Minute {
					t.Errorf("it took %s", took)
				}
				if name == "call" {
					wantChat(t, r.Messages(), "user: go", "assistant:  a=wait{} b=read{}", "tool a: "+resultAtLimit, "tool b: "+resultAfterLimit)
				} else {
					wantChat(t, r.Messages(), "user: go", "assistant: The first half "+markBroken)
				}
			})
		})
	}
}

// TestDailyLimitNeedsItsFile: a cost of the day that cannot be kept ends the turn, and is
// no question.
func TestDailyLimitNeedsItsFile(t *testing.T) {
	ask := &limitAsker{}
	r := newRig(t, Options{Limits: Limits{MaxDayUSD: 1}, Ask: ask, Spending: &daily{err: errors.New("disk on fire")}}, say("fine"))
	if err := r.Run(t.Context(), "go"); err == nil || !strings.Contains(err.Error(), "disk on fire") || len(r.model.requests)+len(ask.asked) != 0 {
		t.Errorf("%v, %d requests", err, len(r.model.requests))
	}
}

// TestLostCostEndsTheTurn: a cost that cannot be added to the day's ends the turn at the
// next request.
func TestLostCostEndsTheTurn(t *testing.T) {
	day := &daily{addErr: errors.New("the disk is full")}
	costly := end("", llm.End{Calls: []llm.ToolCall{call("c", "read", `{}`)}, Usage: llm.Usage{Input: 90, Output: 10, CostUSD: 0.5}})
	r := newRig(t, Options{Limits: Limits{MaxDayUSD: 100}, Spending: day}, costly, say("fine"))
	if err := r.Run(t.Context(), "go"); err == nil || !strings.Contains(err.Error(), "the disk is full") || len(r.model.requests) != 1 {
		t.Errorf("%v, %d requests", err, len(r.model.requests))
	}
}

// TestExpensiveRequestAsks: a long prompt is expensive, and after a pause, when the cache
// is empty, the whole conversation is.
func TestExpensiveRequestAsks(t *testing.T) {
	ask := &limitAsker{answers: []confirm.Verdict{{Decision: confirm.Approve}}}
	clock := time.Now()
	counted := end("fine", llm.End{Usage: llm.Usage{Input: 200_000, Output: 10}})
	r := newRig(t, Options{Limits: Limits{MaxRequestUSD: 0.5}, Ask: ask, Now: func() time.Time { return clock }}, say("fine"), counted, counted)
	r.model.inputUSD = 3
	for i, step := range []struct {
		prompt string
		pause  time.Duration
		asked  int // so far
	}{
		{"short", 0, 0},
		{strings.Repeat("long ", 200_000), 0, 1},
		{"within the life of the cache", time.Minute, 1},
		{"after it", time.Hour, 2},
	} {
		clock = clock.Add(step.pause)
		err := r.Run(t.Context(), step.prompt)
		if len(ask.asked) != step.asked || (err == nil) != (i < 3) {
			t.Fatalf("step %d: asked %+v, %v", i, ask.asked, err)
		}
	}
	if q := ask.asked[1]; !strings.HasPrefix(q.Reached, "The next request costs about $0.60, more than $0.50: 200,0") || q.Step != "$0.50" {
		t.Errorf("asked %+v", q)
	}
}
