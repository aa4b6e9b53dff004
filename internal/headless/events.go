package headless

import (
	"bytes"
	"encoding/json"

	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// The objects of the stream-json format, in the order in which they can occur. Readers
// must skip unknown types and fields.
type (
	startEvent struct {
		Type      string `json:"type"` // start
		SessionID string `json:"session_id"`
		Prompt    string `json:"prompt"`
	}
	requestEvent struct {
		Type  string `json:"type"` // request
		Round int    `json:"round"`
	}
	textEvent struct {
		Type string `json:"type"` // text, reasoning, notice
		Text string `json:"text"`
	}
	retryEvent struct {
		Type    string `json:"type"` // retry
		Attempt int    `json:"attempt"`
		Max     int    `json:"max"`
		WaitMS  int64  `json:"wait_ms"`
		Reason  string `json:"reason"`
		Void    bool   `json:"void,omitzero"` // the text and reasoning of this request so far are void
	}
	usageEvent struct {
		Type string `json:"type"` // usage, of one request
		usageObject
		CostUSD       float64 `json:"cost_usd"`
		ContextTokens int64   `json:"context_tokens"`
	}
	callEvent struct {
		Type  string          `json:"type"` // tool_call
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Args  json.RawMessage `json:"args"`
		Title string          `json:"title"`
	}
	outputEvent struct {
		Type string `json:"type"` // tool_output
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	resultEvent struct {
		Type         string             `json:"type"` // tool_result
		ID           string             `json:"id"`
		Name         string             `json:"name"`
		Failed       bool               `json:"failed"`
		Denied       bool               `json:"denied"`
		Result       string             `json:"result"` // as sent to the model
		FilesChanged []tools.FileChange `json:"files_changed,omitempty"`
		Rule         string             `json:"rule,omitempty"` // that approved a command without a question
		DurationMS   int64              `json:"duration_ms"`
	}
)

// jsonEvent returns the object for ev, or nil if ev has none.
func jsonEvent(ev session.Event) any {
	switch ev := ev.(type) {
	case session.TextDelta:
		return textEvent{"text", ev.Text}
	case session.ReasoningDelta:
		return textEvent{"reasoning", ev.Text}
	case session.RequestStarted:
		return requestEvent{"request", ev.Round}
	case session.Retrying:
		return retryEvent{"retry", ev.Attempt, ev.Max, ev.Wait.Milliseconds(), ev.Reason, ev.Void}
	case session.AnswerEnded:
		return usageEvent{"usage", usageOf(ev.Usage), ev.Usage.CostUSD, ev.Context}
	case session.CallStarted:
		return callEvent{"tool_call", ev.Call.ID, ev.Call.Name, rawObject(ev.Call.Args), ev.Title}
	case session.CallOutput:
		return outputEvent{"tool_output", ev.ID, ev.Text}
	case session.CallEnded:
		return resultEvent{
			"tool_result", ev.Call.ID, ev.Call.Name, ev.Result.Failed, ev.Result.Denied != nil,
			ev.Result.ForModel, ev.Result.Changes, ev.Result.Rule, ev.Took.Milliseconds(),
		}
	case session.Notice:
		return textEvent{"notice", ev.Text}
	}
	return nil
}

// line writes v as a line of JSON.
func (f *Face) line(v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		f.complain("an event could not be written as JSON: " + err.Error())
		return
	}
	f.out.write(sanitize.JSON(b.String()))
}
