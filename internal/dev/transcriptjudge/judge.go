// Package transcriptjudge checks the bytes of a chat-completions request as the
// strictest provider would. It shares no code with the package that writes them, so
// that the two only agree if both are right. Only tests use it.
package transcriptjudge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

type message struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCalls  []call          `json:"tool_calls"`
	ToolCallID *string         `json:"tool_call_id"`
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// judge reads the messages of one request.
type judge struct {
	open  map[string]bool // calls of the last answer without a result
	ids   map[string]bool // all calls
	asked bool            // a prompt was seen
	marks int             // cache markers
}

// Check returns the first violation in body, a chat-completions request, that a strict
// provider refuses: a system message that is not the first, an answer before any
// prompt, an empty message, a call whose arguments are not a JSON object, a call
// without exactly one result directly after its message, a result without a call, more
// than four cache markers, or nothing left to answer.
func Check(body []byte) error {
	if !utf8.Valid(body) {
		return errors.New("the body is not UTF-8")
	}
	if err := noDuplicates(body); err != nil {
		return err
	}
	var req struct {
		Messages []message `json:"messages"`
		Tools    []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	var names []string
	for _, t := range req.Tools {
		names = append(names, t.Function.Name)
	}
	if err := named(names); err != nil {
		return err
	}
	if len(req.Messages) == 0 {
		return errors.New("no messages")
	}
	j := judge{open: map[string]bool{}, ids: map[string]bool{}}
	for i, m := range req.Messages {
		if err := j.next(i, m); err != nil {
			return fmt.Errorf("message %d (%s): %w", i, m.Role, err)
		}
	}
	if len(j.open) > 0 {
		return fmt.Errorf("%d call(s) without a result at the end", len(j.open))
	}
	if j.marks > maxMarkers {
		return fmt.Errorf("%d cache markers, at most %d", j.marks, maxMarkers)
	}
	if last := req.Messages[len(req.Messages)-1].Role; last != "user" && last != "tool" {
		return fmt.Errorf("the last message is of role %q: there is nothing to answer", last)
	}
	return nil
}

// named returns the error of names of tools that a provider refuses.
func named(names []string) error {
	if len(names) > maxFunctions {
		return fmt.Errorf("%d tools", len(names))
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] || name == "" || len(name) > maxToolName || strings.ContainsFunc(name, badInName) {
			return fmt.Errorf("tool %q: twice, or a bad name", name)
		}
		seen[name] = true
	}
	return nil
}

func (j *judge) next(i int, m message) error {
	if len(j.open) > 0 && m.Role != "tool" {
		return fmt.Errorf("%d call(s) before it have no result", len(j.open))
	}
	if m.Role != "assistant" && m.ToolCalls != nil {
		return errors.New("tool_calls outside of an answer")
	}
	if m.Role != "tool" && m.ToolCallID != nil {
		return errors.New("tool_call_id outside of a result")
	}
	switch m.Role {
	case "system":
		if i != 0 {
			return errors.New("not the first message")
		}
	case "user":
		j.asked = true
	case "assistant":
		if !j.asked {
			return errors.New("an answer before any prompt")
		}
		return j.answer(m)
	case "tool":
		if err := j.result(m); err != nil {
			return err
		}
	default:
		return errors.New("unknown role")
	}
	return j.hasText(m.Content)
}

func (j *judge) answer(m message) error {
	if m.ToolCalls == nil {
		return j.hasText(m.Content)
	}
	if len(m.ToolCalls) == 0 {
		return errors.New("tool_calls is empty")
	}
	if len(m.Content) > 0 && string(m.Content) != "null" {
		if err := j.hasText(m.Content); err != nil {
			return err
		}
	}
	for _, c := range m.ToolCalls {
		if err := c.check(); err != nil {
			return fmt.Errorf("call %q: %w", c.ID, err)
		}
		if j.ids[c.ID] {
			return fmt.Errorf("call id %q comes twice", c.ID)
		}
		j.ids[c.ID], j.open[c.ID] = true, true
	}
	return nil
}

func (c call) check() error {
	switch {
	case c.ID == "":
		return errors.New("no id")
	case c.Type != "function":
		return fmt.Errorf("type %q", c.Type)
	case c.Function.Name == "" || len(c.Function.Name) > 64 || strings.ContainsFunc(c.Function.Name, badInName):
		return fmt.Errorf("name %q", c.Function.Name)
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal([]byte(c.Function.Arguments), &args); err != nil || args == nil {
		return fmt.Errorf("arguments %q are not a JSON object", c.Function.Arguments)
	}
	return nil
}

func badInName(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	digit := '0' <= r && r <= '9'
	return !letter && !digit && r != '_' && r != '-'
}

func (j *judge) result(m message) error {
	if m.ToolCallID == nil {
		return errors.New("no tool_call_id")
	}
	if !j.open[*m.ToolCallID] {
		return fmt.Errorf("no open call %q directly before it", *m.ToolCallID)
	}
	delete(j.open, *m.ToolCallID)
	return nil
}

// hasText counts the cache markers of content. It returns an error if content is empty:
// not a string, an empty string, an empty list, or a list with an empty text.
func (j *judge) hasText(content json.RawMessage) error {
	var s string
	if json.Unmarshal(content, &s) == nil && len(content) > 0 && content[0] == '"' {
		if s == "" {
			return errors.New("empty content")
		}
		return nil
	}
	var parts []struct {
		Type  string          `json:"type"`
		Text  *string         `json:"text"`
		Cache json.RawMessage `json:"cache_control"`
	}
	if err := json.Unmarshal(content, &parts); err != nil || len(parts) == 0 {
		return errors.New("no content")
	}
	for _, p := range parts {
		if p.Type == "" || p.Type == "text" && (p.Text == nil || *p.Text == "") {
			return errors.New("an empty part")
		}
		if p.Cache != nil {
			j.marks++
		}
	}
	return nil
}

// noDuplicates returns an error if an object has a name twice: its meaning would depend
// on the provider's parser.
func noDuplicates(body []byte) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	if err := value(dec); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the body: more than one value")
	}
	return nil
}

func value(dec *json.Decoder) error {
	tok, err := dec.Token()
	if err != nil {
		return err
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		return nil
	}
	names := map[string]bool{}
	for dec.More() {
		if delim == '{' {
			tok, err := dec.Token()
			if err != nil {
				return err
			}
			name, ok := tok.(string)
			if !ok || names[name] {
				return fmt.Errorf("name %q twice in an object", name)
			}
			names[name] = true
		}
		if err := value(dec); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}
