package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

// answer holds the state of one attempt.
type answer struct {
	model  string
	blocks map[int]*received
	order  []*received
	usage  usage
	spent  llm.Usage // before the server paused the answer
	stop   string
	cited  remote.Citations
	deltas []llm.Delta          // since the last call of Deltas
	used   func(id string) bool // whether an id is taken in the conversation
}

// received is a block of content while it comes.
type received struct {
	kind     string
	start    json.RawMessage // as it began
	id, name string
	text     strings.Builder // or thinking, or arguments
	sign     strings.Builder // the signature of thinking
	compact  json.RawMessage // the content of a compaction
	partial  bool            // it had a part of a type that is not known
}

// event is one event of the stream, whatever its type.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	Block json.RawMessage `json:"content_block"`
	Delta struct {
		Type      string `json:"type"`
		Text      string `json:"text"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
		JSON      string `json:"partial_json"`
		// Content is the text of a compaction; deltas of other types may have another form.
		Content json.RawMessage `json:"content"`
		Cite    struct {
			URL   string `json:"url"`
			Title string `json:"title"`
		} `json:"citation"`
		Stop string `json:"stop_reason"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

// usage counts tokens; Input leaves out what the cache took or gave. A count that
// an event does not name is nil.
type usage struct {
	Input   *int64 `json:"input_tokens"`
	Output  *int64 `json:"output_tokens"`
	Written *int64 `json:"cache_creation_input_tokens"`
	Read    *int64 `json:"cache_read_input_tokens"`
	Kept    struct {
		Hour *int64 `json:"ephemeral_1h_input_tokens"` // of Written
	} `json:"cache_creation"`
	Tools struct {
		Searches *int64 `json:"web_search_requests"`
	} `json:"server_tool_use"`
}

// add takes the counts of v, which are of the whole answer so far. Some gateways send a
// zero for tokens that an earlier event has counted.
func (u *usage) add(v usage) {
	for _, c := range []struct{ dst, src **int64 }{
		{&u.Input, &v.Input}, {&u.Output, &v.Output}, {&u.Written, &v.Written}, {&u.Read, &v.Read}, {&u.Kept.Hour, &v.Kept.Hour}, {&u.Tools.Searches, &v.Tools.Searches},
	} {
		if *c.src != nil && (*c.dst == nil || **c.src > 0) {
			*c.dst = *c.src
		}
	}
}

// The types that are read of events, of parts of blocks and of blocks. Others, which may be added to
// the API, may have any form.
var (
	eventTypes = map[string]bool{
		"error": true, "message_start": true, "content_block_start": true, "content_block_delta": true, "message_delta": true, "message_stop": true,
	}
	deltaTypes = map[string]bool{"text_delta": true, "thinking_delta": true, "signature_delta": true, "input_json_delta": true, "compaction_delta": true}
	blockTypes = map[string]bool{"text": true, "thinking": true, "redacted_thinking": true, "tool_use": true}
)

// known reports whether all of the event is of types that are read.
func (e event) known() bool {
	return eventTypes[e.Type] && (e.Type != "content_block_delta" || deltaTypes[e.Delta.Type])
}

// Add implements remote.Answer.
func (a *answer) Add(data []byte) (remote.Progress, error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil && (e.known() || !remote.OtherForm(err)) {
		return remote.Nothing, fmt.Errorf("reading an event: %w", err)
	}
	switch e.Type {
	case "error":
		return remote.Nothing, remote.ParseServerError(data)
	case "message_start":
		a.usage.add(e.Message.Usage)
		return remote.Nothing, nil
	case "content_block_start":
		return remote.Part, a.start(e)
	case "content_block_delta":
		return remote.Part, a.grow(e)
	case "message_delta":
		a.usage.add(e.Usage)
		if e.Delta.Stop == "" {
			return remote.Part, nil
		}
		a.stop = e.Delta.Stop
		return remote.Ended, nil
	case "message_stop":
		if a.stop == "" {
			return remote.Nothing, remote.ErrUnfinished
		}
		return remote.Nothing, io.EOF
	}
	return remote.Nothing, nil // ping, content_block_stop, and what may be added to the API
}

// Deltas implements remote.Answer.
func (a *answer) Deltas() []llm.Delta {
	deltas := a.deltas
	a.deltas = nil
	return deltas
}

func (a *answer) start(e event) error {
	var b struct {
		Type, Text, Thinking, Signature, ID, Name string
		Input                                     json.RawMessage
	}
	if err := json.Unmarshal(e.Block, &b); err != nil && (blockTypes[b.Type] || !remote.OtherForm(err)) {
		return fmt.Errorf("reading a block: %w", err)
	}
	r := &received{kind: b.Type, start: e.Block, id: b.ID, name: b.Name}
	if a.blocks == nil {
		a.blocks = map[int]*received{}
	}
	a.blocks[e.Index], a.order = r, append(a.order, r)
	r.sign.WriteString(b.Signature)
	if b.Type == "tool_use" {
		if input := string(b.Input); input != "{}" && input != "null" {
			r.text.WriteString(input)
		}
		a.pending(r)
		return nil
	}
	if b.Type == "web_search_tool_result" {
		a.searched(e.Block)
	}
	if b.Type == "thinking" || b.Type == "redacted_thinking" {
		a.deltas = append(a.deltas, llm.Delta{Thinking: true})
	}
	a.write(r, b.Text+b.Thinking)
	return nil
}

// searched shows the search that led to a block of results.
func (a *answer) searched(block json.RawMessage) {
	var found struct {
		Of      string          `json:"tool_use_id"`
		Content json.RawMessage `json:"content"`
	}
	var results []json.RawMessage
	var asked struct {
		Query string `json:"query"`
	}
	if json.Unmarshal(block, &found) != nil {
		return
	}
	_ = json.Unmarshal(found.Content, &results) // an error of the search is an object
	for _, r := range a.order {
		if r.id == found.Of && r.kind == "server_tool_use" {
			_ = json.Unmarshal([]byte(r.text.String()), &asked) // without a query, it is shown as empty
		}
	}
	a.deltas = append(a.deltas, remote.Searched(asked.Query, len(results)))
}

// errNoBlock is returned for a part of a block that did not begin.
var errNoBlock = errors.New("a part of a block that did not begin")

func (a *answer) grow(e event) error {
	r := a.blocks[e.Index]
	if r == nil {
		return errNoBlock
	}
	switch d := e.Delta; d.Type {
	case "text_delta":
		a.write(r, d.Text)
	case "thinking_delta":
		a.write(r, d.Thinking)
	case "signature_delta":
		r.sign.WriteString(d.Signature)
	case "input_json_delta":
		r.text.WriteString(d.JSON)
		a.pending(r)
	case "citations_delta":
		a.cited.Add(d.Cite.URL, d.Cite.Title)
	case "compaction_delta":
		r.compact = d.Content // all of it
	default:
		r.partial = true
	}
	return nil
}

// write adds text to r and to the deltas.
func (a *answer) write(r *received, text string) {
	r.text.WriteString(text)
	switch {
	case text == "":
	case r.kind == "text":
		a.deltas = append(a.deltas, llm.Delta{Text: text})
	case r.kind == "thinking":
		a.deltas = append(a.deltas, llm.Delta{Reasoning: text})
	}
}

// pending reports the progress of a call; only the last report counts.
func (a *answer) pending(r *received) {
	p := llm.Delta{Pending: &llm.Pending{Name: r.name, Bytes: r.text.Len()}}
	if n := len(a.deltas); n > 0 && a.deltas[n-1].Pending != nil && a.deltas[n-1].Pending.Name == r.name {
		a.deltas[n-1] = p
		return
	}
	a.deltas = append(a.deltas, p)
}

// End implements remote.Answer.
func (a *answer) End() *llm.End {
	end := &llm.End{Stop: stopReason(a.stop), Usage: a.spent.Add(a.tokens())}
	order := llm.Order{Wire: wireName, Model: a.model}
	for _, r := range a.order {
		switch r.kind {
		case "text":
			order.Parts = append(order.Parts, llm.OrderPart{Text: r.text.Len()})
		case "tool_use":
			end.Calls = append(end.Calls, r.call(end.Stop, a.used))
			order.AddCall(end.Calls)
		default:
			if raw := r.opaque(); raw != nil {
				order.Parts = append(order.Parts, llm.OrderPart{Opaque: raw})
			}
		}
	}
	if len(end.Calls) > 0 && end.Stop == llm.StopEnd {
		end.Stop = llm.StopTools
	}
	end.Extra = order.Extra()
	a.deltas = append(a.deltas, a.cited.Deltas()...)
	return end
}

func (r *received) call(stop llm.StopReason, used func(id string) bool) llm.ToolCall {
	id := r.id
	if id == "" || used(id) {
		id = llm.NewCallID()
	}
	return llm.ParseCall(id, r.name, r.text.String(), stop)
}

// opaque returns a block of thinking, or of a tool that runs on the server, as the server
// wants it back; nil for thinking without a signature, which it would refuse.
func (r *received) opaque() json.RawMessage {
	switch {
	case r.partial:
		return nil
	case r.compact != nil:
		return r.with("content", r.compact)
	case r.kind != "thinking" && r.text.Len() == 0:
		return r.start
	case r.kind != "thinking": // the server's call of its own tool, with the input that came in parts
		return r.with("input", json.RawMessage(r.text.String()))
	case r.sign.Len() == 0:
		return nil
	}
	raw, _ := json.Marshal(struct { // of strings: it cannot fail
		Type      string `json:"type"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
	}{r.kind, r.text.String(), r.sign.String()})
	return raw
}

// with returns the block as it began, with a member that came later.
func (r *received) with(member string, value json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(r.start, &fields); err != nil || !json.Valid(value) {
		return nil
	}
	fields[member] = value
	raw, _ := json.Marshal(fields) // of valid JSON: it cannot fail
	return raw
}

// Resume continues an answer that the server paused, which it does while its own tools
// run for long. The server goes on if it gets its own blocks back.
func (a *answer) Resume(req remote.Request) (remote.Request, bool) {
	if a.stop != "pause_turn" {
		return req, false
	}
	var blocks []any
	for _, r := range a.order {
		switch text := r.text.String(); {
		case r.kind == "tool_use":
			return req, false // our results have to come first
		case r.kind != "text":
			if raw := r.opaque(); raw != nil {
				blocks = append(blocks, raw)
			}
		case strings.TrimSpace(text) != "":
			blocks = append(blocks, block{Type: "text", Text: text})
		}
	}
	content, err := remote.Marshal(blocks)
	if err != nil || len(blocks) == 0 {
		return req, false
	}
	a.spent, a.usage = a.spent.Add(a.tokens()), usage{}
	a.stop, a.blocks = "", nil
	last := len(req.Body) - 1
	req.Body = slices.Concat(req.Body[:last], [][]byte{[]byte(`,{"role":"assistant","content":`), content, {'}'}}, req.Body[last:])
	return req, true
}

func stopReason(stop string) llm.StopReason {
	switch stop {
	case "tool_use":
		return llm.StopTools
	case "max_tokens", "model_context_window_exceeded":
		return llm.StopLength
	case "refusal":
		return llm.StopFilter
	}
	return llm.StopEnd
}

// tokens returns the counts of the answer.
func (a *answer) tokens() llm.Usage {
	u := a.usage
	if u.Input == nil || u.Output == nil {
		return llm.Usage{Estimated: true}
	}
	value := func(p *int64) int64 {
		if p == nil {
			return 0
		}
		return *p
	}
	read, written := value(u.Read), value(u.Written)
	return llm.Usage{Input: *u.Input + read + written, Output: *u.Output, Cached: read, Written: written, WrittenHour: value(u.Kept.Hour), Searches: value(u.Tools.Searches)}
}
