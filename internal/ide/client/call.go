package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/bb2d0cf4/agent/internal/clip"
)

// Errors that callers branch on.
var (
	// ErrTooLarge means that the message exceeds the editor's limit; nothing was sent.
	ErrTooLarge = errors.New("too large for the editor")
	// ErrUnsupported means that the editor lacks the tool.
	ErrUnsupported = errors.New("the editor has no such tool")
)

// Codes of ToolError that a caller branches on.
const (
	CodeDirty = "DIRTY_DOCUMENT" // the file has unsaved changes in the editor
	CodeBusy  = "BUSY"           // another review of the file is open there
	// CodeAborted means that the window gave up its reviews because it closes.
	CodeAborted = "ABORTED"
	// CodeNoDiff means that no review with the given id is pending.
	CodeNoDiff = "DIFF_NOT_FOUND"
	// CodeInternal means that the editor failed, perhaps after carrying out the request.
	CodeInternal = "INTERNAL"
)

// ToolError is an editor's refusal. The refusal of an unknown tool is also
// ErrUnsupported.
type ToolError struct {
	Code    string // see CodeDirty; empty if the editor gave none
	RPC     int    // JSON-RPC code; 0 if the refusal came as a result
	Message string // the editor's words, not safe to show before they are sanitized

	unsupported bool
}

func (e *ToolError) Error() string { return "the editor refused: " + e.Message }

// Unwrap returns ErrUnsupported for an unknown tool.
func (e *ToolError) Unwrap() error {
	if e.unsupported {
		return ErrUnsupported
	}
	return nil
}

// JSON-RPC codes of editors.
const (
	rpcNoSuchMethod = -32601
	rpcBadParams    = -32602
	rpcNotOpen      = -32001
)

// envelope is a generous bound on the size of a message without its arguments.
const envelope = 512

// maxWords bounds an editor's explanation, in bytes.
const maxWords = 2 << 10

// answer is a result: the texts of its items in order.
type answer struct {
	items      []string
	structured jsontext.Value
}

// first returns the first text.
func (a answer) first() string {
	if len(a.items) == 0 {
		return ""
	}
	return a.items[0]
}

// call calls a tool under the name by which the editor lists it.
func (c *Client) call(ctx context.Context, tool string, args any) (answer, error) {
	data, err := encode(args)
	if err != nil {
		return answer{}, fmt.Errorf("encode the arguments of %s: %w", tool, err)
	}
	info := c.Info()
	if len(data)+envelope > info.MaxMessage {
		return answer{}, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(data), info.MaxMessage)
	}
	raw, err := c.conn.Call(ctx, listed(info.Tools, tool), data)
	var refused *jsonrpc.Error
	if errors.As(err, &refused) {
		return answer{}, rpcRefusal(refused)
	}
	if err != nil {
		return answer{}, err
	}
	return readResult(raw)
}

// encode writes JSON without the escapes that only web pages need: they would inflate
// the text.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// listed returns the name under which an editor lists a tool, as some write open_diff
// for openDiff. It returns name if the list has none: tools may answer without being
// listed.
func listed(tools []string, name string) string {
	found := name
	for _, t := range tools {
		switch {
		case t == name:
			return name
		case plain(t) == plain(name) && plain(name) != "closetab": // closeTab and close_tab differ
			found = t
		}
	}
	return found
}

func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// rpcRefusal reads an error response. Its data may hold the useful message.
func rpcRefusal(e *jsonrpc.Error) *ToolError {
	t := &ToolError{RPC: int(e.Code), Message: e.Message, unsupported: e.Code == rpcNoSuchMethod}
	var words string
	var data struct {
		Code    string `json:"code"`
		Details string `json:"details"`
	}
	switch {
	case json.Unmarshal(e.Data, &words) == nil && words != "":
		t.Message = words
	case json.Unmarshal(e.Data, &data) == nil:
		t.Code = data.Code
		if data.Details != "" {
			t.Message += ": " + data.Details
		}
	}
	if e.Code == rpcBadParams && saysUnknown(t.Message) {
		t.unsupported = true
	}
	return t.bounded()
}

// readResult reads the result of a call; a result without content is an error. It
// refuses duplicate names and text that is not Unicode, which readers interpret
// differently.
func readResult(raw json.RawMessage) (answer, error) {
	var r struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		IsError    bool           `json:"isError"`
		Structured jsontext.Value `json:"structuredContent"`
		Message    string         `json:"message"`
		Data       jsontext.Value `json:"data"`
	}
	if err := strict.Unmarshal(raw, &r); err != nil {
		return answer{}, &ToolError{Message: "its answer cannot be read"}
	}
	a := answer{structured: r.Structured}
	for _, item := range r.Content {
		if item.Type == "text" || item.Type == "" {
			a.items = append(a.items, item.Text)
		}
	}
	switch {
	case r.IsError:
		return answer{}, resultRefusal(a)
	case r.Content == nil:
		words := r.Message
		var data string
		if strict.Unmarshal(r.Data, &data) == nil && data != "" {
			words = data
		}
		return answer{}, (&ToolError{Message: words}).bounded()
	}
	return a, nil
}

// resultRefusal reads a result with isError set.
func resultRefusal(a answer) *ToolError {
	t := &ToolError{Message: a.first()}
	var told struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Error   string `json:"error"`
	}
	if strict.Unmarshal(a.structured, &told) != nil || told.Code == "" {
		_ = strict.Unmarshal([]byte(t.Message), &told) // otherwise it is plain text
	}
	t.Code = told.Code
	if told.Message != "" {
		t.Message = told.Message
	}
	t.unsupported = saysUnknown(t.Message)
	return t.bounded()
}

// saysUnknown reports whether a message means that the tool is unknown.
func saysUnknown(words string) bool {
	words = strings.ToLower(words)
	return strings.Contains(words, "unknown tool") || strings.Contains(words, "tool not found") ||
		strings.Contains(words, "tool") && strings.HasSuffix(words, "not found")
}

func (e *ToolError) bounded() *ToolError {
	if e.Message == "" {
		e.Message = "it gave no reason"
	}
	e.Message = clip.Bytes(e.Message, maxWords, "…")
	return e
}
