package transcriptjudge

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// responsesItem is an item of the input of the Responses API.
type responsesItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Phase     *string         `json:"phase"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Encrypted string          `json:"encrypted_content"`
}

// responsesJudge walks the items of one request of the Responses API.
type responsesJudge struct {
	open      map[string]bool // calls that have no result yet
	ids       map[string]bool // all calls
	reasoning bool            // the item before was reasoning, so its output must follow
}

// CheckResponses returns the first thing in body, a stateless request of the
// Responses API, that a strict server refuses: store that is not off, a reference
// to an earlier response, reasoning without its encrypted content or without the
// item that it led to, a call without exactly one result, an empty text.
func CheckResponses(body []byte) error {
	if err := noDuplicates(body); err != nil {
		return err
	}
	var req responsesRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	if err := req.check(); err != nil {
		return err
	}
	j := responsesJudge{open: map[string]bool{}, ids: map[string]bool{}}
	for i, item := range req.Input {
		if err := j.next(item); err != nil {
			return fmt.Errorf("item %d (%s%s): %w", i, item.Type, item.Role, err)
		}
	}
	if len(j.open) > 0 || j.reasoning {
		return errors.New("the input ends with a call without a result, or with reasoning")
	}
	if last := req.Input[len(req.Input)-1]; last.Role != "user" && last.Type != "function_call_output" {
		return errors.New("the last item is the model's: there is nothing to answer")
	}
	return nil
}

// responsesRequest is a request of the Responses API.
type responsesRequest struct {
	Model    string          `json:"model"`
	Store    *bool           `json:"store"`
	Previous json.RawMessage `json:"previous_response_id"`
	Tools    []struct {
		Type   string          `json:"type"`
		Name   string          `json:"name"`
		Strict *bool           `json:"strict"`
		Schema json.RawMessage `json:"parameters"`
	} `json:"tools"`
	Input []responsesItem `json:"input"`
}

// The most tools of a request, and the most bytes of a name of one.
const (
	maxFunctions = 128
	maxToolName  = 64
)

// check checks everything but the input.
func (r responsesRequest) check() error {
	if r.Model == "" || r.Store == nil || *r.Store || r.Previous != nil || len(r.Input) == 0 {
		return errors.New("a model, input and store: false are required, and no previous_response_id")
	}
	var names []string
	for _, t := range r.Tools {
		if t.Type == "web_search" && t.Name == "" {
			names = append(names, t.Type)
			continue
		}
		names = append(names, t.Name)
		if t.Type != "function" || t.Name == "" || t.Strict == nil || *t.Strict || !isObject(t.Schema) {
			return fmt.Errorf("tool %q: no function with strict: false and a schema", t.Name)
		}
	}
	return named(names)
}

func (j *responsesJudge) next(item responsesItem) error {
	led := item.Role == "assistant" || slices.Contains([]string{"function_call", "web_search_call", "reasoning"}, item.Type)
	if j.reasoning && !led {
		return errors.New("the reasoning before it has lost the item that it led to")
	}
	j.reasoning = item.Type == "reasoning"
	switch item.Type {
	case "reasoning":
		if item.Encrypted == "" {
			return errors.New("no encrypted content")
		}
		return nil
	case "function_call":
		return j.call(item)
	case "function_call_output":
		return j.output(item)
	case "", "message":
		if p := item.Phase; p != nil && (item.Role != "assistant" || *p != "commentary" && *p != "final_answer") {
			return fmt.Errorf("phase %q of %q", *p, item.Role)
		}
		return j.message(item)
	case "compaction", "web_search_call":
		return nil
	}
	return errors.New("an unknown type")
}

func (j *responsesJudge) call(item responsesItem) error {
	if item.CallID == "" || len(item.CallID) > 64 || j.ids[item.CallID] || item.Name == "" || !isObject(json.RawMessage(item.Arguments)) {
		return fmt.Errorf("call %q: a bad or used id, no name, or arguments that are no object", item.CallID)
	}
	j.ids[item.CallID], j.open[item.CallID] = true, true
	return nil
}

func (j *responsesJudge) output(item responsesItem) error {
	if !j.open[item.CallID] {
		return fmt.Errorf("no open call %q before it", item.CallID)
	}
	delete(j.open, item.CallID)
	if len(item.Output) == 0 || string(item.Output) == `""` {
		return errors.New("no output")
	}
	return nil
}

func (j *responsesJudge) message(item responsesItem) error {
	if len(j.open) > 0 && item.Role != "assistant" {
		return fmt.Errorf("%d call(s) before it have no result", len(j.open))
	}
	var parts []struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image string `json:"image_url"`
	}
	if err := json.Unmarshal(item.Content, &parts); err != nil || len(parts) == 0 {
		return errors.New("no content")
	}
	want := "input_text"
	if item.Role == "assistant" {
		want = "output_text"
	}
	for _, p := range parts {
		switch {
		case p.Type == "input_image" && item.Role == "user" && p.Image != "":
		case p.Type == want && strings.TrimSpace(p.Text) != "":
		default:
			return fmt.Errorf("a part of type %q, or an empty one", p.Type)
		}
	}
	return nil
}
