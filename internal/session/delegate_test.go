package session

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// delegating returns a rig that gets one answer with n delegated calls, and then "fine". do
// carries a call out.
func delegating(t *testing.T, opt Options, n int, do toolFunc) *rig {
	var calls []llm.ToolCall
	for i := range n {
		calls = append(calls, call(strconv.Itoa(i), "task", "{}"))
	}
	r := newRig(t, opt, say("", calls...), say("fine"))
	r.opt.Tools = &delegates{r.tools, do}
	return r
}

// delegates is a toolset whose tool "task" delegates.
type delegates struct {
	*toolset
	do toolFunc
}

func (s *delegates) Specs() []llm.ToolSpec { return []llm.ToolSpec{{Name: "task", Delegates: true}} }

func (s *delegates) Call(ctx context.Context, _ string, c tools.Call) (tools.Result, error) {
	return s.do(ctx, c)
}

// child runs a conversation of a sub-agent with these answers.
func child(ctx context.Context, t *testing.T, c tools.Call, answers ...answerFunc) (tools.Result, error) {
	loop, err := New(Options{Model: &model{tb: t, answers: answers}, Tools: &toolset{}, Budget: c.Budget, Turn: c.Turn})
	if err != nil {
		return tools.Result{}, err
	}
	err = loop.Run(ctx, "part "+c.ID)
	res := tools.Result{Task: loop.Messages()}
	if ctx.Err() != nil {
		return res, ctx.Err()
	}
	res.ForModel = "done " + c.ID
	if err != nil {
		res.ForModel = err.Error()
	}
	return res, nil
}

// Sub-agents work at the same time. Their requests count for the session, and their output
// comes with the call that it belongs to.
func TestSubAgentsSpendOfTheSession(t *testing.T) {
	var together sync.WaitGroup
	together.Add(maxAhead)
	r := delegating(t, Options{}, maxAhead, func(ctx context.Context, c tools.Call) (tools.Result, error) {
		together.Done()
		together.Wait()
		c.Progress("working on " + c.ID)
		return child(ctx, t, c, say("", call("x", "read", "{}")), say("so it is"))
	})
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	var want, order []string
	for i := range maxAhead {
		want = append(want, fmt.Sprintf("%d done %d", i, i))
	}
	if diff := cmp.Diff(want, r.results()); diff != "" {
		t.Error(diff)
	}
	for _, ev := range r.events {
		switch ev := ev.(type) {
		case CallStarted:
			order = append(order, ev.Call.ID)
		case CallOutput:
			order = append(order, ev.Text)
		}
	}
	if got := strings.Join(order, " "); !strings.HasPrefix(got, "0 working on 0 1 working on 1 2 working") {
		t.Errorf("events %s", got)
	}
	if got, spent := r.account.used(), eventsOf[Spent](r); got.Input != 180 || got.Output != 36 || len(spent) != 16 || spent[15].Total.Input != 170 {
		t.Errorf("%+v, %d events", got, len(spent))
	}
	for _, it := range r.Items() {
		if it.Message.Role == llm.ToolReply && (it.Task == nil || len(it.Task.Messages) != 4) {
			t.Errorf("no conversation with %+v", it.Message)
		}
	}
	again, _, _ := history.Rebuild(entriesOf(r.Items()))
	if diff := cmp.Diff(r.Items(), again.Items()); diff != "" {
		t.Error(diff)
	}
}

func entriesOf(items []history.Item) (all []history.Entry) {
	for _, it := range items {
		all = append(all, history.Entry{Item: &it})
	}
	return all
}

// A limit of the session stops sub-agents, and the person is asked about it once at a time.
func TestSubAgentsKeepTheLimits(t *testing.T) {
	ask := &answering{yes: 2}
	r := delegating(t, Options{Limits: Limits{MaxTokens: 20}, Ask: ask}, 4, func(ctx context.Context, c tools.Call) (tools.Result, error) {
		return child(ctx, t, c, say("", call("x", "read", "{}")), say("so it is"))
	})
	if err := r.Run(t.Context(), "go"); err == nil {
		t.Error("no limit")
	}
	requests := 0
	for _, e := range eventsOf[Spent](r) {
		requests++
		if e.Usage.Input != 10 {
			t.Errorf("%+v", e)
		}
	}
	if ask.asked < 4 || requests < 3 || requests > 6 { // those that were allowed at the same time, and two more
		t.Errorf("asked %d times, %d requests", ask.asked, requests)
	}
}

// Sub-agents that spend at the same time exceed a limit together by no more than one request. One
// whose request fails does not hold up the others.
func TestSubAgentsExceedNoLimitTogether(t *testing.T) {
	synctest.Test(t, exceedNoLimitTogether)
}

// slow answers after a second, so that requests overlap.
func slow(a answerFunc) answerFunc {
	return func(ctx context.Context, yield func(llm.Delta, error) bool) {
		<-time.After(time.Second)
		a(ctx, yield)
	}
}

func exceedNoLimitTogether(t *testing.T) {
	const limit, request = 40, 12 // tokens
	for _, failing := range []bool{false, true} {
		var together sync.WaitGroup
		together.Add(maxAhead)
		r := delegating(t, Options{Limits: Limits{MaxTokens: limit}}, maxAhead, func(ctx context.Context, c tools.Call) (tools.Result, error) {
			together.Done()
			together.Wait()
			if failing && (c.ID == "0" || c.ID == "1") {
				return child(ctx, t, c, slow(breakOff("", errors.New("broken "+c.ID))))
			}
			return child(ctx, t, c, slow(say("", call("x", "read", "{}"))), slow(say("so it is")))
		})
		_ = r.Run(t.Context(), "go") // the limit may end it
		used := r.account.used().Input + r.account.used().Output
		if used > limit+request || used < limit {
			t.Errorf("failing %v: %d tokens, the limit is %d", failing, used, limit)
		}
		if n := len(r.results()); n != maxAhead {
			t.Errorf("failing %v: %d results", failing, n)
		}
	}
}

// answering says yes a few times, then no. No lock: one goroutine asks.
type answering struct{ yes, asked int }

func (a *answering) Ask(context.Context, confirm.Request) (v confirm.Verdict, err error) {
	if a.asked++; a.asked <= a.yes {
		v.Decision = confirm.Approve
	}
	return v, nil
}

// A cancel ends all, and each keeps its conversation.
func TestSubAgentsAreCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := make(chan struct{})
	r := delegating(t, Options{}, 4, func(ctx context.Context, c tools.Call) (tools.Result, error) {
		switch c.ID {
		case "0", "3":
			<-first
			return child(ctx, t, c, hang("thinking", cancel))
		case "1":
			defer close(first)
		}
		return child(ctx, t, c, say("over"))
	})
	if err := r.Run(ctx, "go"); err == nil || r.stop() != StopCancelled {
		t.Errorf("%v", err)
	}
	got := r.results()
	if len(got) != 4 || got[0] != "0 "+resultCancelled || got[1] != "1 done 1" || got[3] != "3 "+resultCancelled {
		t.Errorf("%q", got)
	}
	for _, it := range r.Items() {
		if it.Message.Role == llm.ToolReply && it.Task == nil {
			t.Errorf("the conversation of %s is lost", it.Message.CallID)
		}
	}
}
