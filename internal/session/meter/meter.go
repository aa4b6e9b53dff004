// Package meter measures how much of a model's context a conversation fills. It
// estimates, and learns from the counts of providers, from their errors for a
// conversation that is too long, and from servers that drop the excess silently. It
// guarantees that a guess never replaces a provider's figure.
package meter

import "github.com/bb2d0cf4/agent/internal/llm"

// Meter knows the contexts of the models of a session. It belongs to one goroutine.
type Meter struct {
	estimator estimator
	learned   map[string]int64 // windows that servers have named, by the model's name
	fixed     int              // bytes of the system prompt and the tools in the last request
	sent      int              // bytes of the last request
	counted   struct {         // the newest request that the next one extends, if any
		bytes  int
		tokens int64
	}
}

// Fill is the estimated content of a model's context in tokens.
type Fill struct {
	Window  int64 // zero if unknown
	System  int64 // zero before the first request
	Tools   int64
	Summary int64 // of the compacted messages
	Prompts int64
	Answers int64
	Results int64 // of tools
	PerByte float64
	// Context is the provider's count of all of it; an estimate if it has not counted,
	// and zero in an empty conversation.
	Context int64
}

// Used is the sum of all parts.
func (f Fill) Used() int64 {
	return f.System + f.Tools + f.Summary + f.Prompts + f.Answers + f.Results
}

// Restart tells m that the next request does not extend the previous one.
func (m *Meter) Restart() { m.counted.bytes, m.counted.tokens = 0, 0 }

// Send tells m the bytes of the messages of the next request; see Frame.
func (m *Meter) Send(messages int) { m.sent = m.fixed + messages }

// SendOther tells m the bytes of a request that is not part of the conversation.
func (m *Meter) SendOther(bytes int) { m.sent = bytes }

// Frame tells m the system prompt and the tools of the next request.
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

// Request estimates the tokens of a request from the bytes of its messages.
func (m *Meter) Request(messages int) int64 { return m.estimator.tokens(m.fixed + messages) }

// Room returns how many bytes of messages fit in a request of tokens; it may be
// negative.
func (m *Meter) Room(tokens int64) int { return m.estimator.bytes(tokens) - m.fixed }

// Bytes estimates the bytes of a number of tokens.
func (m *Meter) Bytes(tokens int64) int { return m.estimator.bytes(tokens) }

// Window returns the size of the model's context in tokens; zero if unknown.
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

// Count tells m a provider's count for the last request. It returns true if the server
// has dropped a part of the request silently.
func (m *Meter) Count(model llm.Info, u llm.Usage) (cut bool) {
	switch {
	case u.Estimated:
	case m.cuts(model, u):
		m.learn(model, (u.Input+u.Output+1023)/1024*1024)
		return true
	default:
		m.estimator.learn(m.sent, u.Input)
		m.counted.bytes, m.counted.tokens = m.sent, u.Input
	}
	return false
}

// The minimum count, and the minimum growth in bytes, for a server to be suspected of
// dropping the excess silently.
const (
	leastWindow = 1500
	leastGrowth = 8 << 10
	mostBytes   = 8 // of a token on average, at most
)

// cuts reports whether the server dropped a part of the request silently, as some
// local servers do: its count is no higher than before, or lower than any text's.
func (m *Meter) cuts(model llm.Info, u llm.Usage) bool {
	if m.Window(model) > 0 || u.Cached > 0 || u.Input < leastWindow {
		return false
	}
	c := m.counted
	return c.tokens > 0 && u.Input <= c.tokens && m.sent > c.bytes+leastGrowth || int64(m.sent) > u.Input*mostBytes
}

// TooLong tells m that the last request did not fit. exact reports whether the server
// named both sizes.
func (m *Meter) TooLong(model llm.Info, e *llm.Error) (exact bool) {
	if e.Needed > 0 {
		m.estimator.learn(m.sent, e.Needed)
	}
	if e.Window > 0 {
		m.learn(model, e.Window)
		return e.Needed > 0
	}
	// Only this much is known not to fit.
	if had := m.estimator.tokens(m.sent); m.Window(model) == 0 || m.Window(model) >= had {
		m.learn(model, had*9/10)
	}
	return false
}

// Fill returns the content of the model's context.
func (m *Meter) Fill(model llm.Info, specs []llm.ToolSpec, t Tally) Fill {
	tokens := func(bytes int) int64 {
		if bytes <= 0 {
			return 0
		}
		return m.estimator.tokens(bytes)
	}
	tools := toolBytes(specs)
	return Fill{
		Window: m.Window(model), Tools: tokens(tools), System: tokens(m.fixed - tools), PerByte: 1 / m.estimator.perToken(),
		Summary: tokens(t.summary), Prompts: tokens(t.prompts), Answers: tokens(t.answers + t.echoed(model)), Results: tokens(t.results),
	}
}

// Tally sums the weights of the messages of a conversation, in bytes of text. It counts
// each message once.
type Tally struct {
	seen                               int
	summary, prompts, answers, results int
	thoughts                           int // reasoning that is not in Extra, see llm.Info
}

// Add counts the messages that were added since the last call. If compacted is true,
// the first message is the compaction.
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
			if n := len(messages[i].Reasoning()); n > len(messages[i].Extra) {
				t.thoughts += n
			}
		}
	}
	t.seen = len(messages)
}

// Sum returns the weight of all messages in a request to model.
func (t Tally) Sum(model llm.Info) int {
	return t.summary + t.prompts + t.answers + t.results + t.echoed(model)
}

// echoed returns the weight of the reasoning that goes back to model outside of Extra.
func (t Tally) echoed(model llm.Info) int {
	if model.EchoesReasoning {
		return t.thoughts
	}
	return 0
}
