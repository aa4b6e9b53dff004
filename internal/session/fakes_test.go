package session

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// answerFunc answers one request.
type answerFunc func(ctx context.Context, yield func(llm.Delta, error) bool)

// model answers from a list. It judges the bytes of each request as a server would get
// them.
type model struct {
	tb       testing.TB
	wire     *wire
	answers  []answerFunc
	requests []llm.Request
	free     bool
	inputUSD float64
	window   int64
}

func (m *model) Info() llm.Info {
	return llm.Info{Name: "test/model", Free: m.free, ContextWindow: m.window, InputUSD: m.inputUSD}
}

func (m *model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	if m.wire == nil {
		m.wire = newWire()
	}
	if body := m.wire.bytes(ctx, m.tb, req); transcriptjudge.Check(body) != nil {
		m.tb.Errorf("request %d: %v\n%s", len(m.requests)+1, transcriptjudge.Check(body), body)
	}
	req.Messages = slices.Clone(req.Messages)
	m.requests = append(m.requests, req)
	return func(yield func(llm.Delta, error) bool) {
		if len(m.answers) == 0 {
			yield(llm.Delta{}, errors.New("the model has no more answers"))
			return
		}
		next := m.answers[0]
		m.answers = m.answers[1:]
		next(ctx, yield)
	}
}

// last returns the messages of the newest request.
func (m *model) last() []llm.Message { return m.requests[len(m.requests)-1].Messages }

// say answers with text and then calls.
func say(text string, calls ...llm.ToolCall) answerFunc {
	return end(text, llm.End{Stop: llm.StopEnd, Calls: calls, Usage: llm.Usage{Input: 10, Output: 2}})
}

func end(text string, e llm.End) answerFunc {
	return func(_ context.Context, yield func(llm.Delta, error) bool) {
		if text != "" && !yield(llm.Delta{Text: text}, nil) {
			return
		}
		yield(llm.Delta{End: &e}, nil)
	}
}

// breakOff sends text and then fails.
func breakOff(text string, err error) answerFunc {
	return func(_ context.Context, yield func(llm.Delta, error) bool) {
		if text == "" || yield(llm.Delta{Text: text}, nil) {
			yield(llm.Delta{}, err)
		}
	}
}

// hang sends text, calls cancel and waits for the request to be cancelled.
func hang(text string, cancel func()) answerFunc {
	return func(ctx context.Context, yield func(llm.Delta, error) bool) {
		if text == "" || yield(llm.Delta{Text: text}, nil) {
			cancel()
			<-ctx.Done()
			yield(llm.Delta{}, ctx.Err())
		}
	}
}

func call(id, name, args string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Args: args}
}

// toolFunc is a tool.
type toolFunc func(ctx context.Context, c tools.Call) (tools.Result, error)

// toolset holds tools by name and records the calls that ran.
type toolset struct {
	tools map[string]toolFunc
	calls []tools.Call
}

func (s *toolset) Specs() []llm.ToolSpec { return nil }

func (s *toolset) Title(name string, _ json.RawMessage) (line, whole string) {
	if name == "title_panics" {
		panic("title")
	}
	return name + "()", name + "() whole"
}

func (s *toolset) Call(ctx context.Context, name string, c tools.Call) (tools.Result, error) {
	s.calls = append(s.calls, c)
	if f, ok := s.tools[name]; ok {
		return f(ctx, c)
	}
	return tools.Result{ForModel: "no such tool", Failed: true}, nil
}

func (s *toolset) ran() []string {
	ids := []string{}
	for _, c := range s.calls {
		ids = append(ids, c.ID)
	}
	return ids
}

// does returns a tool with a fixed result.
func does(res tools.Result) toolFunc {
	return func(context.Context, tools.Call) (tools.Result, error) { return res, nil }
}

// rig is a loop over fakes, with the events that it emitted.
type rig struct {
	*Loop
	model  *model
	tools  *toolset
	events []Event
}

func newRig(t testing.TB, opt Options, answers ...answerFunc) *rig {
	t.Helper()
	r := &rig{model: &model{tb: t, answers: answers}, tools: &toolset{tools: map[string]toolFunc{
		"read": func(_ context.Context, c tools.Call) (tools.Result, error) {
			return tools.Result{ForModel: "content of " + c.ID, ForUser: "12 lines"}, nil
		},
		"no":    does(tools.Result{ForModel: "declined", Denied: &tools.Denied{Tool: "no", Reason: "user"}, Stop: true}),
		"panic": func(context.Context, tools.Call) (tools.Result, error) { panic("boom") },
		"error": func(context.Context, tools.Call) (tools.Result, error) {
			return tools.Result{}, errors.New("disk on fire")
		},
	}}}
	opt.Model, opt.Tools = r.model, r.tools
	opt.Emit = func(ev Event) { r.events = append(r.events, ev) }
	var err error
	if r.Loop, err = New(opt); err != nil {
		t.Fatal(err)
	}
	return r
}

// eventsOf returns the events of one type.
func eventsOf[E Event](r *rig) []E {
	var out []E
	for _, ev := range r.events {
		if e, ok := ev.(E); ok {
			out = append(out, e)
		}
	}
	return out
}

// stop returns how the last turn ended.
func (r *rig) stop() Stop {
	ends := eventsOf[TurnEnded](r)
	return ends[len(ends)-1].Stop
}
