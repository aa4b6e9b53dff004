package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// readers is a toolset whose tool "see" only reads.
type readers struct {
	see  toolFunc
	rest *toolset
}

func (s *readers) Specs() []llm.ToolSpec {
	return []llm.ToolSpec{{Name: "see", Reads: true}, {Name: "write"}}
}

func (s *readers) Title(name string, _ json.RawMessage) (line, whole string) { return name, name }

func (s *readers) Call(ctx context.Context, name string, c tools.Call) (tools.Result, error) {
	if name == "see" {
		return s.see(ctx, c)
	}
	return s.rest.Call(ctx, name, c)
}

// reading returns a rig that gets one answer with calls of the tools, and then "fine".
func reading(t *testing.T, see toolFunc, names ...string) *rig {
	var calls []llm.ToolCall
	for i, name := range names {
		calls = append(calls, call(strconv.Itoa(i), name, "{}"))
	}
	r := newRig(t, Options{}, say("", calls...), say("fine"))
	r.opt.Tools = &readers{see, r.tools}
	return r
}

// results returns the results in the conversation.
func (r *rig) results() (all []string) {
	for _, m := range r.Messages() {
		if m.Role == llm.ToolReply {
			all = append(all, m.CallID+" "+m.Text())
		}
	}
	return all
}

// Calls that only read run at the same time: each waits until all have begun. Their
// results and events keep the order of the calls.
func TestReadsRunTogether(t *testing.T) {
	began := make(chan struct{}, maxAhead)
	all := make(chan struct{})
	var count atomic.Int32
	r := reading(t, func(_ context.Context, c tools.Call) (tools.Result, error) {
		if began <- struct{}{}; count.Add(1) == 3 {
			close(all)
		}
		<-all
		return tools.Result{ForModel: "saw " + c.ID}, nil
	}, "see", "see", "see")
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0 saw 0", "1 saw 1", "2 saw 2"}, r.results()); diff != "" {
		t.Error(diff)
	}
	var order []string
	for _, ev := range r.events {
		switch ev := ev.(type) {
		case CallStarted:
			order = append(order, "+"+ev.Call.ID)
		case CallEnded:
			order = append(order, "-"+ev.Call.ID)
		}
	}
	if got := strings.Join(order, ""); got != "+0-0+1-1+2-2" {
		t.Errorf("events %s", got)
	}
}

// A call that writes runs alone: after the reads before it, before those after it.
func TestWritesRunAlone(t *testing.T) {
	var running, most atomic.Int32
	written := false
	r := reading(t, func(_ context.Context, c tools.Call) (tools.Result, error) {
		n := running.Add(1)
		defer running.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		if n, _ := strconv.Atoi(c.ID); (n > 20) != written {
			return tools.Result{}, fmt.Errorf("call %d runs at the wrong time", n)
		}
		return tools.Result{ForModel: "saw " + c.ID}, nil
	}, append(append(strings.Fields(strings.Repeat("see ", 20)), "write"), strings.Fields(strings.Repeat("see ", 20))...)...)
	r.tools.tools["write"] = func(context.Context, tools.Call) (tools.Result, error) {
		if running.Load() > 0 {
			t.Error("a read is running")
		}
		written = true
		return tools.Result{ForModel: "written"}, nil
	}
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if got := r.results(); len(got) != 41 || got[20] != "20 written" || got[40] != "40 saw 40" {
		t.Errorf("%q", got)
	}
	if most.Load() > maxAhead {
		t.Errorf("%d at a time", most.Load())
	}
}

// Nobody is asked out of turn, and no later call counts after a "no" or a cancel.
func TestReadsAskInTurn(t *testing.T) {
	for name, end := range map[string]func(cancel func()) (tools.Result, error){
		"no": func(func()) (tools.Result, error) {
			return tools.Result{ForModel: "declined", Denied: &tools.Denied{}, Stop: true}, nil
		},
		"cancel": func(cancel func()) (tools.Result, error) {
			cancel()
			return tools.Result{}, context.Canceled
		},
		"error": func(func()) (tools.Result, error) { return tools.Result{}, fmt.Errorf("disk on fire") },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var asked []string // no lock: it is each call's turn
			r := reading(t, func(ctx context.Context, c tools.Call) (tools.Result, error) {
				if c.ID == "0" {
					return tools.Result{ForModel: "seen"}, nil
				}
				if err := c.Await(ctx); err != nil {
					return tools.Result{}, err
				}
				asked = append(asked, c.ID+" after "+fmt.Sprint(len(c.Batch.Done)))
				if c.ID == "2" {
					return end(cancel)
				}
				return tools.Result{ForModel: "allowed"}, nil
			}, "see", "see", "see", "see", "see")
			err := r.Run(ctx, "go")
			if name != "no" && err == nil {
				t.Error("no error")
			}
			if diff := cmp.Diff([]string{"1 after 1", "2 after 2"}, asked); diff != "" {
				t.Error(diff)
			}
			got := r.results()
			if len(got) != 5 || got[1] != "1 allowed" || !strings.HasPrefix(got[3], "3 Not run") || !strings.HasPrefix(got[4], "4 Not run") {
				t.Errorf("%q", got)
			}
		})
	}
}
