package openai

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/openai/wire"
)

// bytesPerToken estimates tokens if a server does not count them.
const bytesPerToken = 3.8

// answer collects what one attempt has received.
type answer struct {
	deltas []llm.Delta // of the events received last
	buf    []byte      // text of kind that is not in deltas yet
	kind   wire.Kind

	calls  callList
	echo   echo
	finish string
	usage  *wire.Usage
	bytes  int // of text, reasoning and arguments
	// received counts the bytes of all events.
	received int
	began    bool // a part of the answer has been received
}

// add reads an event. It reports whether the event holds a part of the answer.
func (a *answer) add(event []byte, fail func(*wire.Error) error) (content bool, err error) {
	if a.received += len(event); a.received > maxAnswer {
		return false, errEndless
	}
	before := len(a.buf)
	buf, kind, ok := wire.AppendText(a.buf, event)
	switch {
	case ok && kind == wire.Nothing:
	case ok:
		content = true
		a.echo.reasoning(reasoningKey[kind], buf[before:])
		a.text(buf, before, kind)
	default:
		content, err = a.decode(event, fail)
	}
	a.began = a.began || content
	return content, err
}

// text appends buf, whose bytes after before are new and of kind.
func (a *answer) text(buf []byte, before int, kind wire.Kind) {
	added := buf[before:]
	a.bytes += len(added)
	if (kind == wire.Text) != (a.kind == wire.Text) && before > 0 {
		a.flush()
		a.buf = append(a.buf[:0], added...)
	} else {
		a.buf = buf
	}
	a.kind = kind
}

// flush makes one delta of the text in buf.
func (a *answer) flush() {
	if len(a.buf) == 0 {
		return
	}
	if a.kind == wire.Text {
		a.deltas = append(a.deltas, llm.Delta{Text: string(a.buf)})
	} else {
		a.deltas = append(a.deltas, llm.Delta{Reasoning: string(a.buf)})
	}
	a.buf = a.buf[:0]
}

// decode reads an event that is more than a piece of text.
func (a *answer) decode(event []byte, fail func(*wire.Error) error) (content bool, err error) {
	c, err := wire.Decode(event)
	if err != nil {
		return false, err
	}
	if c.Error != nil {
		return false, fail(c.Error)
	}
	if c.Reasoning != "" {
		a.echo.reasoning(c.ReasoningKey, []byte(c.Reasoning))
		a.text(append(a.buf, c.Reasoning...), len(a.buf), wire.Reasoning)
	}
	if c.Text != "" {
		a.text(append(a.buf, c.Text...), len(a.buf), wire.Text)
	}
	a.echo.add(c)
	a.addCalls(c.Calls)
	if c.Finish != "" {
		a.finish = c.Finish
	}
	if c.Usage != nil {
		a.usage = c.Usage
	}
	return c.Text != "" || c.Reasoning != "" || len(c.Calls) > 0 || c.Finish != "" || c.Usage != nil, nil
}

func (a *answer) addCalls(parts []wire.CallPart) {
	for _, p := range parts {
		c := a.calls.add(p)
		a.bytes += len(p.Args)
		a.flush()
		pending := &llm.Pending{Name: c.name, Bytes: c.args.Len()}
		if n := len(a.deltas); n > 0 && a.deltas[n-1].Pending != nil && a.deltas[n-1].Pending.Name == c.name {
			a.deltas[n-1].Pending = pending
		} else {
			a.deltas = append(a.deltas, llm.Delta{Pending: pending})
		}
	}
}

// end returns the complete answer. sent is the size of the request in bytes.
func (a *answer) end(sent int, prices Prices, used func(id string) bool) *llm.End {
	stop := stopReason(a.finish)
	end := &llm.End{Stop: stop, Calls: a.calls.finish(stop, used)}
	if len(end.Calls) > 0 && stop == llm.StopEnd {
		end.Stop = llm.StopTools
	}
	end.Usage = a.count(sent, prices)
	end.Extra = a.echo.object(len(end.Calls) > 0)
	return end
}

func stopReason(finish string) llm.StopReason {
	switch strings.ToLower(finish) {
	case "length", "max_tokens", "model_length":
		return llm.StopLength
	case "content_filter", "safety":
		return llm.StopFilter
	case "tool_calls", "function_call":
		return llm.StopTools
	}
	return llm.StopEnd
}

func (a *answer) count(sent int, prices Prices) llm.Usage {
	u := llm.Usage{
		Input: int64(float64(sent) / bytesPerToken), Output: int64(float64(a.bytes)/bytesPerToken) + 1,
		Estimated: true,
	}
	if a.usage != nil && credible(*a.usage) {
		u = llm.Usage{
			Input: a.usage.Input, Output: a.usage.Output,
			Cached: min(a.usage.Cached, a.usage.Input), CostUSD: max(a.usage.Cost, 0),
		}
	}
	if prices != (Prices{}) {
		u.CostUSD = prices.cost(u)
	}
	return u
}

// maxTokens is more than any answer has; sums of it fit into an int64.
const maxTokens = 1 << 40

// credible reports whether a server's count is possible. The limits of a session depend
// on it: a negative or overflowing count would lift them.
func credible(u wire.Usage) bool {
	return min(u.Input, u.Output, u.Cached) >= 0 && max(u.Input, u.Output) <= maxTokens
}

func (p Prices) cost(u llm.Usage) float64 {
	if p.Cached == 0 {
		p.Cached = p.Input
	}
	return (float64(u.Input-u.Cached)*p.Input + float64(u.Cached)*p.Cached + float64(u.Output)*p.Output) / 1e6
}
