package transcriptjudge

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxMarkers is how many places of a request may ask for caching.
const maxMarkers = 4

// messagesBlock is a block of content in the Messages API.
type messagesBlock struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   []messagesBlock `json:"content"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	Source    struct {
		Type, Data string
		MediaType  string `json:"media_type"`
	} `json:"source"`
	Cache json.RawMessage `json:"cache_control"`
}

// messagesJudge walks the messages of one request of the Messages API.
type messagesJudge struct {
	open    map[string]bool // calls of the last answer that have no result yet
	ids     map[string]bool // all calls
	markers int
	// searched is the id of a search of the server without a result.
	searched string
}

// CheckMessages returns the first thing in body, a request of the Messages API,
// that a strict server refuses: two turns of one role in a row, a first turn that
// is not the user's, an empty text, a call without exactly one result at the
// beginning of the next turn, an id of other characters, thinking without a
// signature or after a call, more than four cache markers.
func CheckMessages(body []byte) error {
	if err := noDuplicates(body); err != nil {
		return err
	}
	var req messagesRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	if req.Model == "" || req.MaxTokens <= 0 || len(req.Messages) == 0 {
		return errors.New("model, max_tokens and messages are required")
	}
	j := messagesJudge{open: map[string]bool{}, ids: map[string]bool{}}
	if err := errors.Join(j.tools(req.Tools), j.texts(req.System), j.messages(req.Messages)); err != nil {
		return err
	}
	if j.markers > maxMarkers {
		return fmt.Errorf("%d cache markers, at most %d", j.markers, maxMarkers)
	}
	return nil
}

// messagesRequest is a request of the Messages API.
type messagesRequest struct {
	Model     string            `json:"model"`
	MaxTokens int               `json:"max_tokens"`
	System    []messagesBlock   `json:"system"`
	Tools     []messagesTool    `json:"tools"`
	Messages  []messagesMessage `json:"messages"`
}

type messagesTool struct {
	Type   string          `json:"type"`
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"input_schema"`
	Cache  json.RawMessage `json:"cache_control"`
}

type messagesMessage struct {
	Role    string          `json:"role"`
	Content []messagesBlock `json:"content"`
}

func (j *messagesJudge) tools(tools []messagesTool) error {
	names := map[string]bool{}
	for _, t := range tools {
		j.mark(t.Cache)
		if names[t.Name] || len(t.Name) > maxToolName {
			return fmt.Errorf("tool %q: twice, or a long name", t.Name)
		}
		names[t.Name] = true
		if t.Type == "web_search_20250305" && t.Name == "web_search" && t.Schema == nil {
			continue
		}
		if !isObject(t.Schema) || strings.ContainsFunc(t.Name, badInName) || t.Name == "" {
			return fmt.Errorf("tool %q: a bad name, or a schema that is no object", t.Name)
		}
	}
	return nil
}

func (j *messagesJudge) messages(messages []messagesMessage) error {
	for i, m := range messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want {
			return fmt.Errorf("message %d is of role %q, want %q", i, m.Role, want)
		}
		check := j.user
		if m.Role == "assistant" {
			check = j.assistant
		}
		if err := check(m.Content); err != nil {
			return fmt.Errorf("message %d (%s): %w", i, m.Role, err)
		}
	}
	if len(messages)%2 == 0 {
		return errors.New("the last message is the model's: there is nothing to answer")
	}
	return nil
}

func isObject(raw json.RawMessage) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(raw, &m) == nil && m != nil
}

func (j *messagesJudge) mark(cache json.RawMessage) {
	if cache != nil {
		j.markers++
	}
}

// texts checks blocks that may be texts only.
func (j *messagesJudge) texts(blocks []messagesBlock) error {
	for _, b := range blocks {
		j.mark(b.Cache)
		if b.Type != "text" {
			return fmt.Errorf("a block of type %q", b.Type)
		}
		if err := b.hasText(); err != nil {
			return err
		}
	}
	return nil
}

func (b messagesBlock) hasText() error {
	if b.Text == nil || strings.TrimSpace(*b.Text) == "" {
		return errors.New("a text without a character that is not blank")
	}
	return nil
}

func (j *messagesJudge) user(blocks []messagesBlock) error {
	if len(blocks) == 0 {
		return errors.New("no content")
	}
	talked := false
	for _, b := range blocks {
		j.mark(b.Cache)
		if b.Type == "tool_result" {
			if talked {
				return errors.New("a result after something else")
			}
			if !j.open[b.ToolUseID] {
				return fmt.Errorf("no open call %q directly before it", b.ToolUseID)
			}
			delete(j.open, b.ToolUseID)
		} else {
			talked = true
		}
		if err := b.spoken(); err != nil {
			return err
		}
	}
	if len(j.open) > 0 {
		return fmt.Errorf("%d call(s) without a result", len(j.open))
	}
	return nil
}

// spoken checks a block of the user.
func (b messagesBlock) spoken() error {
	switch b.Type {
	case "text":
		return b.hasText()
	case "image":
		if b.Source.Type != "base64" || b.Source.Data == "" || !strings.HasPrefix(b.Source.MediaType, "image/") {
			return errors.New("an image without data")
		}
	case "tool_result":
		for _, inner := range b.Content {
			if inner.Type == "tool_result" {
				return errors.New("a result in a result")
			}
			if err := inner.spoken(); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("a block of type %q", b.Type)
	}
	return nil
}

func (j *messagesJudge) assistant(blocks []messagesBlock) error {
	if len(blocks) == 0 {
		return errors.New("no content")
	}
	for _, b := range blocks {
		j.mark(b.Cache)
		if err := j.answered(b); err != nil {
			return err
		}
	}
	if j.searched != "" {
		return errors.New("a search has no result")
	}
	if strings.HasSuffix(blocks[len(blocks)-1].Type, "thinking") {
		return errors.New("the answer ends in thinking")
	}
	return nil
}

// answered checks a block of the model.
func (j *messagesJudge) answered(b messagesBlock) error {
	switch b.Type {
	case "text":
		return b.hasText()
	case "thinking":
		if b.Signature == "" || b.Cache != nil {
			return errors.New("thinking without a signature, or with a marker")
		}
	case "redacted_thinking":
		if b.Data == "" {
			return errors.New("redacted thinking without data")
		}
	case "tool_use":
		return j.use(b)
	case "server_tool_use":
		if b.ID == "" || j.searched != "" || !isObject(b.Input) {
			return fmt.Errorf("search %q: no id, no input, or the one before it has no result", b.ID)
		}
		j.searched = b.ID
		return nil
	case "web_search_tool_result":
		if b.ToolUseID != j.searched || b.ToolUseID == "" {
			return fmt.Errorf("a result of the search %q, but the last is %q", b.ToolUseID, j.searched)
		}
		j.searched = ""
		return nil
	default:
		return fmt.Errorf("a block of type %q", b.Type)
	}
	return nil
}

func (j *messagesJudge) use(b messagesBlock) error {
	if b.ID == "" || len(b.ID) > 64 || strings.ContainsFunc(b.ID, badInName) || j.ids[b.ID] || b.Name == "" || !isObject(b.Input) {
		return fmt.Errorf("call %q: a bad or used id, no name, or an input that is no object", b.ID)
	}
	j.ids[b.ID], j.open[b.ID] = true, true
	return nil
}

// ThinkingOf returns the blocks of thinking in body, a request of the Messages
// API, as they stand there.
func ThinkingOf(body []byte) ([]string, error) {
	var req struct {
		Messages []struct {
			Content []json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, fmt.Errorf("the body: %w", err)
	}
	var all []string
	for _, m := range req.Messages {
		for _, raw := range m.Content {
			var b messagesBlock
			if json.Unmarshal(raw, &b) == nil && slices.Contains([]string{"thinking", "redacted_thinking"}, b.Type) {
				all = append(all, string(raw))
			}
		}
	}
	return all, nil
}
