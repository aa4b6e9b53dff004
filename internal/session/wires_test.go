package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/anthropic"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/llm/openai"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
	"github.com/bb2d0cf4/agent/internal/llm/responses"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// speaker is a model behind a wire, under a name that no other has.
type speaker struct {
	protocol func(model string) remote.Protocol
	judge    func(body []byte) error
	signed   string // how a request names the signature of the nth answer; empty: by none
	searched string // how it names the search in that answer
	phased   bool   // whether it names the phase of a text
}

func viaMessages(model string) remote.Protocol {
	return anthropic.New(anthropic.Options{Model: model, Effort: "high", Search: true})
}

func viaResponses(model string) remote.Protocol {
	return responses.New(responses.Options{Model: model, Effort: "high", Search: true})
}

var speakers = map[string]speaker{
	"chat": {func(model string) remote.Protocol { return openai.New(openai.Options{Model: model}) }, transcriptjudge.Check, "", "", false},
	"chat-marked": {func(model string) remote.Protocol {
		return openai.New(openai.Options{Model: model, CacheMarkers: true})
	}, transcriptjudge.Check, "", "", false},
	"chat-echoing": {func(model string) remote.Protocol {
		return openai.New(openai.Options{Model: model, Learned: []string{"reasoning_content in every answer"}})
	}, echoed, "", "", false},
	"messages-a":  {viaMessages, transcriptjudge.CheckMessages, `"signature":"sig-%d"`, `"tool_use_id":"srvtoolu_%d"`, false},
	"messages-b":  {viaMessages, transcriptjudge.CheckMessages, `"signature":"sig-%d"`, `"tool_use_id":"srvtoolu_%d"`, false},
	"responses-a": {viaResponses, transcriptjudge.CheckResponses, `"encrypted_content":"enc-%d"`, `"id":"ws_%d"`, true},
	"responses-b": {viaResponses, transcriptjudge.CheckResponses, `"encrypted_content":"enc-%d"`, `"id":"ws_%d"`, true},
}

// echoed judges a request to a server that wants reasoning_content in every answer.
func echoed(body []byte) error {
	var req struct {
		Messages []struct {
			Role      string
			Reasoning *string `json:"reasoning_content"`
		} `json:"messages"`
		Tools json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	for i, m := range req.Messages {
		if req.Tools != nil && m.Role == "assistant" && m.Reasoning == nil {
			return fmt.Errorf("message %d has no reasoning_content", i)
		}
	}
	return transcriptjudge.Check(body)
}

// talkers drives conversations over all wires through faults. The server's goroutines
// share it with that of the conversation.
type talkers struct {
	t      *testing.T
	server *llmtest.Server

	mu       sync.Mutex
	rnd      *rand.Rand
	fired    stress.Faults
	requests int
	cancel   func()
	hangs    bool          // the answer under way ends when the user cancels it
	owned    map[int]owned // parts of answers with a call, by the answer's number
}

// owned describes the parts of an answer that its model must get back, and nobody else.
type owned struct {
	model  string
	helper bool // of a sub-agent
	marks  []string
}

// TestEveryWire checks that every provider would accept each request of a conversation
// that changes its model and wire, is cancelled and compacted, gives work to helpers, and meets errors: the
// form of the request; the reasoning, searches and phases that must go back, and those that must not.
func TestEveryWire(t *testing.T) {
	conversations := stress.Size(300, 10_000)
	seed := stress.Seed(t)
	fired, requests := stress.Faults{}, 0
	for i := 0; i < conversations && !t.Failed(); i++ {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			s := &talkers{t: t, rnd: rand.New(rand.NewPCG(seed, uint64(i))), fired: fired, cancel: func() {}, owned: map[int]owned{}}
			s.server = llmtest.NewServerFunc(t, s.answer)
			s.converse()
			requests += s.requests
		})
	}
	t.Logf("load: %d conversations, %d requests judged; seed %d (AGENT_TEST_SEED)", conversations, requests, seed)
	fired.Check(t,
		"change of model", "compaction", "rewind", "cancel before the stream", "cancel in mid-stream", "cancel in a tool",
		"denial", "tool error", "broken stream", "stream without end", "error", "too long", "length stop", "malformed call",
		"id of an earlier answer", "empty answer", "signed reasoning", "search", "phase", "helper", "search of a helper", "failed helper",
	)
}

// converse runs some prompts with several models.
func (s *talkers) converse() {
	transport := remote.NewTransport(nil)
	s.t.Cleanup(transport.CloseIdleConnections)
	names := slices.Sorted(maps.Keys(speakers))
	models := map[string]llm.Model{}
	for _, name := range names {
		models[name] = remote.New(remote.Options{
			Name: name, BaseURL: s.server.URL(), Transport: transport, Limits: remote.Limits{MaxAttempts: 2, Idle: time.Second},
			Clock: remote.Clock{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }},
		}, speakers[name].protocol(name))
	}
	r := newRig(s.t, Options{
		System: func(context.Context) string { return "Be brief." }, Limits: Limits{MaxTurns: 2 + s.intn(4)},
	})
	r.opt.Tools, r.opt.Emit = offered{r.tools}, func(ev Event) {
		if d, ok := ev.(TextDelta); ok && d.Text != "" {
			s.heard()
		}
	}
	for _, name := range []string{"deny", "fail", "cancelled"} {
		r.tools.tools[name] = s.tool(name)
	}
	r.tools.tools["task"] = s.helper(slices.Collect(maps.Values(models)))
	for range 2 + s.intn(5) {
		if s.intn(2) == 0 || r.opt.Model == llm.Model(r.model) {
			s.fires("change of model")
			r.SetModel(models[names[s.intn(len(names))]])
		}
		s.prompt(r)
	}
}

// prompt runs a prompt, sometimes after a compaction or a rewind.
func (s *talkers) prompt(r *rig) {
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	s.mu.Lock()
	s.cancel, s.hangs = cancel, false
	s.mu.Unlock()
	prompts := r.Prompts()
	switch s.intn(6) {
	case 0:
		err := r.Compact(ctx, "all")
		switch {
		case err == nil:
			s.fires("compaction")
		case !errors.Is(err, errNoGain) && ctx.Err() == nil:
			s.t.Error(err)
		}
	case 1:
		if len(prompts) > 0 {
			s.fires("rewind")
			if err := r.Rewind(prompts[s.intn(len(prompts))].N); err != nil {
				s.t.Error(err)
			}
		}
	}
	// Its end does not matter: a failed request, a limit, a cancel.
	_ = r.Run(ctx, "prompt "+strconv.Itoa(s.intn(100)))
}

// offered is a toolset that is named to the model.
type offered struct{ *toolset }

func (offered) Specs() []llm.ToolSpec {
	return []llm.ToolSpec{{Name: "read", Description: "Read.", Schema: json.RawMessage(`{"type":"object"}`)}}
}

// Call calls a tool. Only those of helpers are called at the same time as others.
func (o offered) Call(ctx context.Context, name string, c tools.Call) (tools.Result, error) {
	if name == "task" {
		return o.tools[name](ctx, c)
	}
	return o.toolset.Call(ctx, name, c)
}

const helperSystem = "You are a helper."

// helper returns a tool that carries out a prompt in a conversation of its own.
func (s *talkers) helper(models []llm.Model) toolFunc {
	return func(ctx context.Context, c tools.Call) (tools.Result, error) {
		s.fires("helper")
		own := &toolset{tools: map[string]toolFunc{"read": does(tools.Result{ForModel: "a part"}), "fail": s.tool("fail")}}
		loop, err := New(Options{
			Model: models[s.intn(len(models))], Tools: offered{own}, System: func(context.Context) string { return helperSystem },
			Limits: Limits{MaxTurns: 1 + s.intn(3)}, Budget: c.Budget, Turn: c.Turn,
			Emit: func(ev Event) {
				if d, ok := ev.(TextDelta); ok && d.Text != "" {
					s.heard()
				}
			},
		})
		if err != nil {
			return tools.Result{}, err
		}
		err = loop.Run(ctx, "do a part")
		res := tools.Result{ForModel: "done", ForUser: "done", Task: loop.Messages(), Failed: err != nil}
		if res.Failed {
			s.fires("failed helper")
		}
		return res, ctx.Err()
	}
}

func (s *talkers) intn(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rnd.IntN(n)
}

func (s *talkers) fires(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fired[name]++
}

// heard cancels an answer that hangs.
func (s *talkers) heard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hangs {
		s.cancel()
	}
}

// answer judges the nth request and answers it at random.
func (s *talkers) answer(n int, body []byte) llmtest.Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	var req struct {
		Model string          `json:"model"`
		Tools json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		s.t.Error(err)
	}
	if err := errors.Join(speakers[req.Model].judge(body), s.owns(req.Model, string(body))); err != nil {
		s.t.Errorf("request %d to %s: %v\n%s", n, req.Model, err, body)
	}
	turn := s.turn(req.Tools == nil)
	if len(turn.Calls) > 0 && turn.Fault == llmtest.None && turn.Finish == "" && turn.Handler == nil {
		s.keep(n, req.Model, bytes.Contains(body, []byte(helperSystem)), &turn)
	}
	if turn.Reasoning != "" {
		turn.Reasoning = thoughtOf(req.Model)
	}
	return turn
}

func callOf(n int) string           { return fmt.Sprintf("thought_of_%d_", n) }
func thoughtOf(model string) string { return "a thought of " + model + "." }

// keep notes the parts that must go back of the nth answer, which a model gives with a call.
func (s *talkers) keep(n int, model string, helper bool, turn *llmtest.Turn) {
	by, o := speakers[model], owned{model: model, helper: helper}
	if turn.Reasoning != "" && by.signed != "" {
		s.fired["signed reasoning"]++
		o.marks = append(o.marks, fmt.Sprintf(by.signed, n))
	}
	if turn.Search != "" && by.searched != "" {
		s.fired["search"]++
		if helper {
			s.fired["search of a helper"]++
		}
		o.marks = append(o.marks, fmt.Sprintf(by.searched, n))
	}
	if turn.Text != "" && by.phased {
		s.fired["phase"]++
		turn.Text = fmt.Sprintf("Step %d.", n)
		o.marks = append(o.marks, `"phase":"commentary","content":[{"type":"output_text","text":"`+turn.Text)
	}
	turn.Calls[0].ID = callOf(n)
	s.owned[n] = o
}

// owns returns an error if a request lacks a part that must go back with its call, has one of
// another model's, or a call of a conversation that is not its own.
func (s *talkers) owns(model, body string) error {
	helper := strings.Contains(body, helperSystem)
	for n, o := range s.owned {
		calls := strings.Contains(body, `"`+callOf(n)+`"`)
		if calls && o.helper != helper {
			return fmt.Errorf("the call of answer %d, of a helper: %v", n, o.helper)
		}
		for _, mark := range o.marks {
			switch has := strings.Contains(body, mark); {
			case o.model == model && !has && calls:
				return fmt.Errorf("no %s of answer %d", mark, n)
			case o.model != model && has:
				return fmt.Errorf("%s of answer %d, by %s", mark, n, o.model)
			}
		}
	}
	for other := range speakers {
		if other != model && strings.Contains(body, thoughtOf(other)) {
			return fmt.Errorf("it has a thought of %s", other)
		}
	}
	return nil
}

// turn returns a random answer; most have calls. Nobody hears that to a request for a
// summary.
func (s *talkers) turn(summary bool) llmtest.Turn {
	t := llmtest.Turn{Text: []string{"", "I look.", "Ünïcode\n"}[s.rnd.IntN(3)], Reasoning: []string{"", "hm"}[s.rnd.IntN(2)], Search: []string{"", "", "go release"}[s.rnd.IntN(3)]}
	long := strings.Repeat("a long answer ", 10)
	switch s.rnd.IntN(20) {
	case 0:
		s.fired["cancel before the stream"]++
		s.cancel()
		return llmtest.Turn{Fault: llmtest.Stall}
	case 1:
		if summary {
			break
		}
		s.fired["cancel in mid-stream"]++
		s.hangs = true
		return llmtest.Turn{Text: long, Fault: llmtest.Stall, After: 5}
	case 2:
		s.fired["broken stream"]++
		t.Text, t.Fault, t.After = long, llmtest.Drop, s.rnd.IntN(8)
	case 3:
		s.fired["stream without end"]++
		t.Text, t.Fault, t.After = long, llmtest.Truncate, s.rnd.IntN(8)
	case 4:
		s.fired["error"]++
		return llmtest.Raw([]int{http.StatusBadRequest, http.StatusInternalServerError}[s.rnd.IntN(2)], "application/json", `{"error":{"message":"no"}}`)
	case 5:
		s.fired["too long"]++
		return llmtest.Raw(http.StatusBadRequest, "application/json", `{"error":{"message":"prompt is too long: 213462 tokens > 200000 maximum"}}`)
	case 6:
		s.fired["empty answer"]++
		return llmtest.Turn{}
	case 7, 8, 9:
		t.Text = "Done."
		return t
	case 10:
		s.fired["length stop"]++
		t.Finish = "length"
	}
	t.Calls = s.calls()
	return t
}

func (s *talkers) calls() []llmtest.Call {
	var list []llmtest.Call
	for range 1 + s.rnd.IntN(3) {
		c := llmtest.Call{Name: []string{"read", "read", "deny", "fail", "cancelled", "unknown", "task"}[s.rnd.IntN(7)], Args: fmt.Sprintf(`{"n":%d}`, s.rnd.IntN(100))}
		switch s.rnd.IntN(10) {
		case 0:
			s.fired["malformed call"]++
			c.Args = []string{"", "{", "[]", `"x"`, "null"}[s.rnd.IntN(5)]
		case 1:
			s.fired["id of an earlier answer"]++
			c.ID = "the_same"
		case 2:
			c.ID = "functions.read:" + strconv.Itoa(s.rnd.IntN(3))
		}
		list = append(list, c)
	}
	return list
}

// tool returns a tool with one fault.
func (s *talkers) tool(name string) toolFunc {
	faulty := &storm{rnd: rand.New(rand.NewPCG(1, 1)), fired: stress.Faults{}, cancel: func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.cancel()
	}}
	run := faulty.tool(name)
	return func(ctx context.Context, c tools.Call) (tools.Result, error) {
		s.fires(map[string]string{"deny": "denial", "fail": "tool error", "cancelled": "cancel in a tool"}[name])
		return run(ctx, c)
	}
}

// A call that comes twice in an answer is kept once, and the reasoning before it stays.
func TestRepeatedCallKeepsTheReasoning(t *testing.T) {
	twice := llmtest.Call{ID: "a", Name: "read", Args: "{}"}
	for _, name := range []string{"messages-a", "responses-a"} {
		server := llmtest.NewServer(t, llmtest.Turn{Reasoning: "hm", Calls: []llmtest.Call{twice, twice}}, llmtest.Turn{Text: "done"})
		r := newRig(t, Options{})
		r.SetModel(remote.New(remote.Options{Name: name, BaseURL: server.URL()}, speakers[name].protocol(name)))
		if err := r.Run(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		body := server.Requests()[1]
		if err := speakers[name].judge(body); err != nil || !strings.Contains(string(body), fmt.Sprintf(speakers[name].signed, 0)) {
			t.Errorf("%s: %v\n%s", name, err, body)
		}
	}
}
