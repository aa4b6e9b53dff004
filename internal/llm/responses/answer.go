package responses

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

// answer holds the state of one attempt.
type answer struct {
	model   string
	items   map[int]*item
	order   []*item
	usage   *usage
	stop    llm.StopReason
	thought bool // there was reasoning
	cited   remote.Citations
	found   int64                // how often the server searched the web
	deltas  []llm.Delta          // since the last call of Deltas
	used    func(id string) bool // whether an id is taken in the conversation
}

// item is one item of the output while it comes.
type item struct {
	kind, callID, name string
	phase              string          // of a message
	text               strings.Builder // or arguments
	whole              json.RawMessage // once it is done
}

// event is one event of the stream, whatever its type.
type event struct {
	Type     string          `json:"type"`
	Index    int             `json:"output_index"`
	Delta    string          `json:"delta"`
	Args     string          `json:"arguments"`
	Refusal  string          `json:"refusal"`
	Item     json.RawMessage `json:"item"`
	Response struct {
		Usage      *usage `json:"usage"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Error json.RawMessage `json:"error"`
	} `json:"response"`
}

type usage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	In     struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"input_tokens_details"`
}

// known holds the types of the events that are read.
var known = map[string]bool{
	"error": true, "response.failed": true, "response.output_item.added": true, "response.output_text.delta": true, "response.refusal.delta": true,
	"response.reasoning_summary_text.delta": true, "response.reasoning_text.delta": true, "response.function_call_arguments.delta": true,
	"response.output_item.done": true, "response.completed": true, "response.incomplete": true,
}

// Add implements remote.Answer.
func (a *answer) Add(data []byte) (remote.Progress, error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil && (known[e.Type] || !remote.OtherForm(err)) {
		return remote.Nothing, fmt.Errorf("reading an event: %w", err)
	}
	switch e.Type {
	case "error":
		return remote.Nothing, remote.ParseServerError(data)
	case "response.failed":
		return remote.Nothing, remote.ParseServerError(e.Response.Error)
	case "response.output_item.added":
		return remote.Part, a.start(e)
	case "response.output_text.delta", "response.refusal.delta":
		a.write(e)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		a.thought = true
		a.deltas = append(a.deltas, llm.Delta{Reasoning: e.Delta})
	case "response.reasoning_summary_part.added":
		if a.thought {
			a.deltas = append(a.deltas, llm.Delta{Reasoning: "\n\n"})
		}
	case "response.function_call_arguments.delta":
		it := a.item(e, "function_call")
		it.text.WriteString(e.Delta)
		a.pending(it)
	case "response.output_item.done":
		return remote.Part, a.done(e)
	case "response.completed", "response.incomplete":
		a.usage = e.Response.Usage
		a.stop = stopReason(e.Response.Incomplete.Reason)
		return remote.Ended, io.EOF
	default: // response.created, …in_progress, …done, and what may be added to the API
		return remote.Nothing, nil
	}
	return remote.Part, nil
}

// Deltas implements remote.Answer.
func (a *answer) Deltas() []llm.Delta {
	deltas := a.deltas
	a.deltas = nil
	return deltas
}

// item returns the item of an event; a server may leave out its beginning.
func (a *answer) item(e event, kind string) *item {
	if it := a.items[e.Index]; it != nil {
		return it
	}
	it := &item{kind: kind}
	if a.items == nil {
		a.items = map[int]*item{}
	}
	a.items[e.Index], a.order = it, append(a.order, it)
	return it
}

func (a *answer) start(e event) error {
	it, _, err := a.read(e)
	switch {
	case it == nil:
	case it.kind == "function_call":
		a.pending(it)
	case it.kind == "reasoning":
		a.deltas = append(a.deltas, llm.Delta{Thinking: true})
	}
	return err
}

// itemHead are the members of an item that are read.
type itemHead struct {
	Type      string `json:"type"`
	Phase     string `json:"phase"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Args      string `json:"arguments"`
	Encrypted string `json:"encrypted_content"`
	Content   []struct {
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
		Cites   []struct {
			URL   string `json:"url"`
			Title string `json:"title"`
		} `json:"annotations"`
	} `json:"content"`
	Action struct { // of a search
		Type    string     `json:"type"`
		Query   string     `json:"query"`
		Queries []string   `json:"queries"`
		URL     string     `json:"url"`
		Sources []struct{} `json:"sources"`
	} `json:"action"`
}

// read takes the item in e. One of a kind that is not known may have any form.
func (a *answer) read(e event) (*item, itemHead, error) {
	var head itemHead
	err := json.Unmarshal(e.Item, &head)
	switch head.Type {
	case "message", "function_call", "reasoning", "compaction", searchItem:
	default:
		if remote.OtherForm(err) {
			err = nil
		}
	}
	if err != nil {
		return nil, head, fmt.Errorf("reading an item: %w", err)
	}
	it := a.item(e, head.Type)
	it.kind, it.callID, it.name, it.phase = head.Type, head.CallID, head.Name, head.Phase
	return it, head, nil
}

// done takes an item as a whole, with what its deltas left out.
func (a *answer) done(e event) error {
	it, head, err := a.read(e)
	if err != nil {
		return err
	}
	for _, c := range head.Content {
		for _, cite := range c.Cites {
			a.cited.Add(cite.URL, cite.Title)
		}
	}
	switch {
	case (it.kind == "reasoning" || it.kind == "compaction") && head.Encrypted != "":
		it.whole = e.Item
	case it.kind == searchItem:
		it.whole = e.Item
		a.searched(head)
	case it.kind == "function_call":
		it.text.Reset()
		it.text.WriteString(head.Args)
		a.pending(it)
	case it.kind == "message" && it.text.Len() == 0:
		for _, c := range head.Content {
			e.Delta = c.Text + c.Refusal
			a.write(e)
		}
	}
	return nil
}

// searchItem is the kind of an item in which the server searched the web.
const searchItem = "web_search_call"

// searched shows a search by the server, or the page that it read.
func (a *answer) searched(head itemHead) {
	switch act := head.Action; {
	case act.Type == "search":
		a.found++
		query := act.Query
		if len(act.Queries) > 0 {
			query = strings.Join(act.Queries, "; ")
		}
		a.deltas = append(a.deltas, remote.Searched(query, len(act.Sources)))
	case act.URL != "":
		a.deltas = append(a.deltas, llm.Delta{Notice: "Read " + act.URL + "."})
	}
}

// write adds the delta of e to its message and to the deltas.
func (a *answer) write(e event) {
	a.item(e, "message").text.WriteString(e.Delta)
	if e.Delta != "" {
		a.deltas = append(a.deltas, llm.Delta{Text: e.Delta})
	}
}

// pending reports the progress of a call; only the last report counts.
func (a *answer) pending(it *item) {
	p := llm.Delta{Pending: &llm.Pending{Name: it.name, Bytes: it.text.Len()}}
	if n := len(a.deltas); n > 0 && a.deltas[n-1].Pending != nil && a.deltas[n-1].Pending.Name == it.name {
		a.deltas[n-1] = p
		return
	}
	a.deltas = append(a.deltas, p)
}

// End implements remote.Answer.
func (a *answer) End() *llm.End {
	end := &llm.End{Stop: a.stop, Usage: llm.Usage{Estimated: true}}
	if u := a.usage; u != nil {
		end.Usage = llm.Usage{Input: u.Input, Output: u.Output, Cached: min(u.In.Cached, u.Input), Searches: a.found}
	}
	order := llm.Order{Wire: wireName, Model: a.model}
	for _, it := range a.order {
		switch it.kind {
		case "message":
			order.Parts = append(order.Parts, llm.OrderPart{Text: it.text.Len(), Phase: it.phase})
		case "function_call":
			id := it.callID
			if id == "" || a.used(id) {
				id = llm.NewCallID()
			}
			end.Calls = append(end.Calls, llm.ParseCall(id, it.name, it.text.String(), a.stop))
			order.AddCall(end.Calls)
		case "reasoning", "compaction", searchItem:
			if it.whole != nil { // without its content encrypted it would be refused
				order.Parts = append(order.Parts, llm.OrderPart{Opaque: it.whole})
			}
		default: // of a tool that runs on the server; reasoning without the item after it would be refused
			if n := len(order.Parts); n > 0 && order.Parts[n-1].Opaque != nil {
				order.Parts = order.Parts[:n-1]
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

func stopReason(incomplete string) llm.StopReason {
	switch incomplete {
	case "":
		return llm.StopEnd
	case "content_filter":
		return llm.StopFilter
	}
	return llm.StopLength // max_output_tokens, and whatever else cuts an answer
}
