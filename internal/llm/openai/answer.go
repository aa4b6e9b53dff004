package openai

import (
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/openai/wire"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

// answer collects what one attempt has received.
type answer struct {
	deltas []llm.Delta // since the last call of Deltas
	spare  []llm.Delta // what that call returned
	buf    []byte      // text of kind that is not in deltas yet
	kind   wire.Kind

	think  thinkFilter
	calls  callList
	echo   echo
	finish string
	usage  *wire.Usage
	used   func(id string) bool // whether an id is taken in the conversation
	hour   bool                 // the cache keeps written tokens for an hour
}

// Add implements remote.Answer.
func (a *answer) Add(event []byte) (remote.Progress, error) {
	before := len(a.buf)
	buf, kind, ok := wire.AppendText(a.buf, event)
	switch {
	case !ok:
		return a.decode(event)
	case kind == wire.Nothing:
		return remote.Nothing, nil
	}
	a.echo.reasoning(reasoningKey[kind], buf[before:])
	a.text(buf, before, kind)
	return remote.Part, nil
}

// Deltas implements remote.Answer.
func (a *answer) Deltas() []llm.Delta {
	a.flush()
	a.deltas, a.spare = a.spare[:0], a.deltas
	return a.spare
}

// text appends buf, whose bytes after before are new and of kind.
func (a *answer) text(buf []byte, before int, kind wire.Kind) {
	added := buf[before:]
	if (kind == wire.Text) != (a.kind == wire.Text) && before > 0 {
		a.flush()
		a.buf = append(a.buf[:0], added...)
	} else {
		a.buf = buf
	}
	a.kind = kind
}

// flush makes deltas of the text in buf.
func (a *answer) flush() {
	if len(a.buf) == 0 {
		return
	}
	if a.kind == wire.Text {
		a.deliver(a.think.split(a.buf))
	} else {
		a.deliver(string(a.buf), "")
	}
	a.buf = a.buf[:0]
}

// deliver makes a delta of each text that is not empty.
func (a *answer) deliver(reasoning, text string) {
	if reasoning != "" {
		a.deltas = append(a.deltas, llm.Delta{Reasoning: reasoning})
	}
	if text != "" {
		a.deltas = append(a.deltas, llm.Delta{Text: text})
	}
}

// decode reads an event that is more than a piece of text.
func (a *answer) decode(event []byte) (remote.Progress, error) {
	c, err := wire.Decode(event)
	if err != nil {
		return remote.Nothing, err
	}
	if c.Error != nil {
		return remote.Nothing, c.Error
	}
	if c.Reasoning != "" {
		a.echo.reasoning(c.ReasoningKey, []byte(c.Reasoning))
		a.text(append(a.buf, c.Reasoning...), len(a.buf), wire.Reasoning)
	}
	if a.echo.text.Len() == 0 && c.Reasoning == "" { // else the details repeat it
		if c.Reasoning = c.DetailsText(); c.Reasoning != "" {
			a.text(append(a.buf, c.Reasoning...), len(a.buf), wire.Reasoning)
		}
	}
	if c.Text != "" {
		a.text(append(a.buf, c.Text...), len(a.buf), wire.Text)
	}
	a.echo.add(c)
	a.addCalls(c.Calls)
	if c.Usage != nil {
		a.usage = c.Usage
	}
	switch {
	case failures[strings.ToLower(c.Finish)]:
		return remote.Nothing, &remote.ServerError{Code: "server_error", Message: "it gave up with the finish_reason " + strconv.Quote(c.Finish)}
	case c.Finish != "":
		a.finish = wire.Finish(a.finish, c.Finish)
		return remote.Ended, nil
	case c.Text != "" || c.Reasoning != "" || len(c.Calls) > 0 || c.Usage != nil:
		return remote.Part, nil
	}
	return remote.Nothing, nil
}

func (a *answer) addCalls(parts []wire.CallPart) {
	for _, p := range parts {
		c := a.calls.add(p)
		a.flush()
		pending := &llm.Pending{Name: c.name, Bytes: c.args.Len()}
		if n := len(a.deltas); n > 0 && a.deltas[n-1].Pending != nil && a.deltas[n-1].Pending.Name == c.name {
			a.deltas[n-1].Pending = pending
		} else {
			a.deltas = append(a.deltas, llm.Delta{Pending: pending})
		}
	}
}

// EndsByMark reports that [DONE] completes an answer: not every server gives a reason.
func (a *answer) EndsByMark() bool { return true }

// End implements remote.Answer.
func (a *answer) End() *llm.End {
	a.deliver(a.think.close())
	stop, known := stopReason(a.finish)
	said := stop
	if !known {
		said = "" // the end of the last call may be missing
	}
	end := &llm.End{Stop: stop, Calls: a.calls.finish(said, a.used), NoReason: a.finish == "", Usage: llm.Usage{Estimated: true}}
	if len(end.Calls) > 0 && stop == llm.StopEnd {
		end.Stop = llm.StopTools
	}
	if u := a.usage; u != nil {
		cached := min(u.Cached, u.Input)
		end.Usage = llm.Usage{
			Input: u.Input, Output: u.Output, Cached: cached, Written: min(u.Written, u.Input-cached), CostUSD: max(u.Cost, 0),
		}
		if a.hour {
			end.Usage.WrittenHour = end.Usage.Written
		}
	}
	end.Extra = a.echo.object(end.Calls)
	return end
}

// failures are the finish reasons of answers that the server could not complete, as
// DeepSeek, Google, OpenRouter, vLLM and Z.ai name them.
var failures = map[string]bool{
	"abort": true, "error": true, "insufficient_system_resource": true, "malformed_function_call": true, "network_error": true,
}

// stopReason returns the reason that finish names. known is false if servers document no
// such reason; the answer counts as ended then, but may be cut off.
func stopReason(finish string) (_ llm.StopReason, known bool) {
	switch strings.ToLower(finish) {
	case "length", "max_tokens", "model_length", "model_context_window_exceeded":
		return llm.StopLength, true
	case "content_filter", "safety", "sensitive":
		return llm.StopFilter, true
	case "tool_calls", "function_call":
		return llm.StopTools, true
	case "stop", "eos", "eos_token", "stop_sequence", "end_turn":
		return llm.StopEnd, true
	}
	return llm.StopEnd, false
}
