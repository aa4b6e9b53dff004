package meter

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm"
)

func long(n int) string { return strings.Repeat("x", n) }

var model = llm.Info{Name: "test/model"}

// asks makes m count a request of a number of bytes.
func asks(m *Meter, bytes int) {
	m.Send(bytes)
}

func TestFill(t *testing.T) {
	m := &Meter{}
	specs := []llm.ToolSpec{{Name: "read", Description: long(936), Schema: json.RawMessage(`{}`)}}
	messages := []llm.Message{
		llm.TextMessage(llm.User, long(3000)), llm.TextMessage(llm.Assistant, long(2000)),
		{Role: llm.ToolReply, CallID: "a", Parts: []llm.Part{{Kind: llm.TextPart, Text: long(4000)}}},
		llm.TextMessage(llm.User, long(1000)),
	}
	var all Tally
	all.Add(messages[:2], true)
	all.Add(messages, true)
	m.Frame(long(500), specs)
	m.Send(all.Sum(model))
	m.Count(model, llm.Usage{Input: int64(m.sent / 4)})
	f := m.Fill(llm.Info{ContextWindow: 9000}, specs, all)
	near := func(what string, got, want int64) {
		if got < want-5 || got > want+15 {
			t.Errorf("%s: %d tokens, want about %d", what, got, want)
		}
	}
	near("system", f.System, 125)
	near("tools", f.Tools, 250)
	near("summary", f.Summary, 750)
	near("answers", f.Answers, 500)
	near("results", f.Results, 1000)
	near("prompts", f.Prompts, 250)
	near("all", f.Used(), int64(m.sent/4))
	if f.Window != 9000 || f.PerByte < 0.24 || f.PerByte > 0.26 {
		t.Errorf("%+v", f)
	}
	if f := (&Meter{}).Fill(model, nil, Tally{}); f.Used() != 0 {
		t.Errorf("of nothing: %+v", f)
	}
}

func TestTooLongTeaches(t *testing.T) {
	m := &Meter{}
	asks(m, 40_000)
	if !m.TooLong(model, &llm.Error{Window: 8000, Needed: 10_000}) {
		t.Error("both sizes are known")
	}
	if m.Window(model) != 8000 || m.Bytes(1000) != 4000 || m.Room(1000) != 4000 {
		t.Errorf("window %d, %d bytes", m.Window(model), m.Bytes(1000))
	}
	if m.Window(llm.Info{Name: "other", ContextWindow: 5}) != 5 {
		t.Error("another model has its own")
	}
	// A server that names no number: the window is smaller than the request.
	m = &Meter{}
	asks(m, 33_000)
	if m.TooLong(llm.Info{Name: "test/model", ContextWindow: 50_000}, &llm.Error{}) {
		t.Error("nothing is exact")
	}
	if w := m.Window(model); w < 8000 || w > 10_000 {
		t.Errorf("window %d", w)
	}
	m.Frame(long(5000), nil)
	m.SendOther(99_000)
	before := m.Window(model)
	if m.TooLong(model, &llm.Error{}); m.Window(model) != before {
		t.Error("more that does not fit says nothing new")
	}
}

func TestAServerThatDropsInSilence(t *testing.T) {
	for name, tt := range map[string]struct {
		model  llm.Info
		first  llm.Usage // of 8,000 bytes
		second llm.Usage // of 32,000 bytes
		begun  bool      // the second does not extend the first
		cut    bool
	}{
		"counts less":            {model, llm.Usage{Input: 2000}, llm.Usage{Input: 1950}, false, true},
		"counts too little":      {model, llm.Usage{Input: 2000}, llm.Usage{Input: 3000}, true, true},
		"counts more":            {model, llm.Usage{Input: 2000}, llm.Usage{Input: 8000}, false, false},
		"has it in its cache":    {model, llm.Usage{Input: 2000}, llm.Usage{Input: 1950, Cached: 1000}, false, false},
		"counts nothing":         {model, llm.Usage{Input: 2000}, llm.Usage{Input: 1950, Estimated: true}, false, false},
		"counts what is new":     {model, llm.Usage{Input: 200}, llm.Usage{Input: 100}, false, false},
		"has a window of a name": {llm.Info{Name: "x", ContextWindow: 9000}, llm.Usage{Input: 2000}, llm.Usage{Input: 1950}, false, false},
	} {
		m := &Meter{}
		asks(m, 8000)
		if m.Count(tt.model, tt.first) {
			t.Errorf("%s: the first", name)
		}
		if tt.begun {
			m.Restart()
		}
		asks(m, 32_000)
		if got := m.Count(tt.model, tt.second); got != tt.cut {
			t.Errorf("%s: %v", name, got)
		}
		if w := m.Window(tt.model); tt.cut && (w < tt.second.Input || w > tt.second.Input+1024) {
			t.Errorf("%s: window %d", name, w)
		}
	}
}

func TestGauge(t *testing.T) {
	var g estimator
	if n := g.tokens(3300); n < 990 || n > 1010 {
		t.Errorf("%d tokens", n)
	}
	g.learn(4000, 1000)
	if g.tokens(8000) != 2001 || g.bytes(2000) != 8000 {
		t.Errorf("%d tokens, %d bytes", g.tokens(8000), g.bytes(2000))
	}
	g.learn(1, 10) // too little to learn from
	if g.bytes(1000) != 4000 {
		t.Error("learned from next to nothing")
	}
}

func TestSize(t *testing.T) {
	m := llm.Message{
		Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.ReasoningPart, Text: long(500)}, {Kind: llm.TextPart, Text: "abc"}, {Kind: llm.ImagePart, Data: make([]byte, 1<<20)}},
		Calls: []llm.ToolCall{{ID: "a", Name: "read", Args: "{}"}},
	}
	if got, want := Size(m), messageBytes+3+imageBytes+callBytes+7; got != want {
		t.Errorf("%d, want %d", got, want)
	}
}

// Reasoning counts if it is sent: as part of Extra, or to servers that want it with
// every answer.
func TestReasoningThatGoesBack(t *testing.T) {
	thought := llm.Part{Kind: llm.ReasoningPart, Text: long(5000)}
	var all Tally
	all.Add([]llm.Message{
		{Role: llm.Assistant, Parts: []llm.Part{thought}, Extra: json.RawMessage(`{"source":"here"}`)},
		{Role: llm.Assistant, Parts: []llm.Part{thought}, Extra: json.RawMessage(`{"reasoning_content":"` + long(5000) + `"}`)},
	}, false)
	plain, echoes := all.Sum(model), all.Sum(llm.Info{EchoesReasoning: true})
	if plain < 5000 || plain > 5200 || echoes != plain+5000 {
		t.Errorf("%d bytes, %d with all reasoning", plain, echoes)
	}
	m := &Meter{}
	few, more := m.Fill(model, nil, all).Answers, m.Fill(llm.Info{EchoesReasoning: true}, nil, all).Answers
	if more < few+1400 {
		t.Errorf("%d tokens, %d with all reasoning", few, more)
	}
}
