// Package meter tells how much of a model's context a conversation fills. It
// estimates, and learns from what providers count, from what they say when a
// conversation is too long, and from servers that drop what does not fit and say
// nothing. It guarantees that a figure that a provider has given is never
// replaced by a guess.
package meter

import "github.com/bb2d0cf4/agent/internal/llm"

// Meter is what is known of the context of the models of a session. It belongs
// to one goroutine.
type Meter struct {
	gauge   gauge
	learned map[string]int64 // windows that servers have told of, by the model's name
	fixed   int              // bytes of the system prompt and the tools, as sent last
	sent    int              // bytes of the last request
	counted struct {         // of the newest request that the next one continues, if any
		bytes  int
		tokens int64
	}
}

// Fill is what is in a model's context, in tokens, estimated.
type Fill struct {
	Window  int64 // zero if not known
	System  int64 // zero before the first request
	Tools   int64
	Summary int64 // of what was compacted
	Prompts int64
	Answers int64
	Results int64 // of tools
	PerByte float64
	// Context is what the provider has counted for all of it; an estimate where it has
	// not, and zero before anything was said.
	Context int64
}

// Used is the sum of all parts.
func (f Fill) Used() int64 {
	return f.System + f.Tools + f.Summary + f.Prompts + f.Answers + f.Results
}

// Restart says that the next request does not continue the last one.
func (m *Meter) Restart() { m.counted.bytes, m.counted.tokens = 0, 0 }

// Send is told of each request how many bytes its messages have; see Frame.
func (m *Meter) Send(messages int) { m.sent = m.fixed + messages }

// SendOther is told of a request that is none of the conversation's, with its bytes.
func (m *Meter) SendOther(bytes int) { m.sent = bytes }

// Frame is told what goes with the next request.
func (m *Meter) Frame(system string, specs []llm.ToolSpec) {
	m.fixed = len(system) + toolBytes(specs)
}

func toolBytes(specs []llm.ToolSpec) int {
	n := 0
	for _, s := range specs {
		n += callBytes + len(s.Name) + len(s.Description) + len(s.Schema)
	}
	return n
}

// Request estimates the tokens of a request with so many bytes of messages.
func (m *Meter) Request(messages int) int64 { return m.gauge.tokens(m.fixed + messages) }

// Room is how many bytes messages may have in a request of so many tokens; it may
// be negative.
func (m *Meter) Room(tokens int64) int { return m.gauge.bytes(tokens) - m.fixed }

// Bytes estimates the bytes of so many tokens.
func (m *Meter) Bytes(tokens int64) int { return m.gauge.bytes(tokens) }

// Window is the number of tokens that a model takes; zero if it is not known.
func (m *Meter) Window(model llm.Info) int64 {
	if w, ok := m.learned[model.Name]; ok {
		return w
	}
	return model.ContextWindow
}

func (m *Meter) learn(model llm.Info, window int64) {
	if m.learned == nil {
		m.learned = map[string]int64{}
	}
	m.learned[model.Name] = window
}

// Count is told what a provider has counted for the last request. It returns
// true if the server has dropped a part of it in silence.
func (m *Meter) Count(model llm.Info, u llm.Usage) (cut bool) {
	switch {
	case u.Estimated:
	case m.cuts(model, u):
		m.learn(model, (u.Input+u.Output+1023)/1024*1024)
		return true
	default:
		m.gauge.learn(m.sent, u.Input)
		m.counted.bytes, m.counted.tokens = m.sent, u.Input
	}
	return false
}

// The least count, and the least growth in bytes, from which a server that says
// nothing is thought to drop what does not fit.
const (
	leastWindow = 1500
	leastGrowth = 8 << 10
	mostBytes   = 8 // of a token, on average
)

// cuts says that the server has dropped a part of the request in silence, as
// some do that serve a model on this machine: it counts no more than before, or
// less than any text has.
func (m *Meter) cuts(model llm.Info, u llm.Usage) bool {
	if m.Window(model) > 0 || u.Cached > 0 || u.Input < leastWindow {
		return false
	}
	c := m.counted
	return c.tokens > 0 && u.Input <= c.tokens && m.sent > c.bytes+leastGrowth || int64(m.sent) > u.Input*mostBytes
}

// TooLong is told that the last request did not fit. exact says that the server
// has named its size and the window's.
func (m *Meter) TooLong(model llm.Info, e *llm.Error) (exact bool) {
	if e.Needed > 0 {
		m.gauge.learn(m.sent, e.Needed)
	}
	if e.Window > 0 {
		m.learn(model, e.Window)
		return e.Needed > 0
	}
	// All that is known is that so much did not fit.
	if had := m.gauge.tokens(m.sent); m.Window(model) == 0 || m.Window(model) >= had {
		m.learn(model, had*9/10)
	}
	return false
}

// Fill tells what is in the model's context.
func (m *Meter) Fill(model llm.Info, specs []llm.ToolSpec, t Tally) Fill {
	tokens := func(bytes int) int64 {
		if bytes <= 0 {
			return 0
		}
		return m.gauge.tokens(bytes)
	}
	tools := toolBytes(specs)
	return Fill{
		Window: m.Window(model), Tools: tokens(tools), System: tokens(m.fixed - tools), PerByte: 1 / m.gauge.perToken(),
		Summary: tokens(t.summary), Prompts: tokens(t.prompts), Answers: tokens(t.answers), Results: tokens(t.results),
	}
}

// Tally is what the messages of a conversation weigh, in bytes of text. What was
// counted once is not looked at again.
type Tally struct {
	seen                               int
	summary, prompts, answers, results int
}

// Add counts those of messages that are new: the others are the ones of before.
// Where compacted is true, the first of all stands for others.
func (t *Tally) Add(messages []llm.Message, compacted bool) {
	for i := t.seen; i < len(messages); i++ {
		size := Size(messages[i])
		switch role := messages[i].Role; {
		case i == 0 && compacted:
			t.summary += size
		case role == llm.User:
			t.prompts += size
		case role == llm.ToolReply:
			t.results += size
		default:
			t.answers += size
		}
	}
	t.seen = len(messages)
}

// Sum is what all weigh together.
func (t Tally) Sum() int { return t.summary + t.prompts + t.answers + t.results }
