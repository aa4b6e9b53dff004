package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

const wireName = "anthropic"

// Texts for places that the API does not allow to be empty.
const (
	opening = "(The conversation continues.)" // before an answer that comes first
	resume  = "(Continue.)"                   // after an answer that comes last
	noText  = "(no text)"
)

// block is one piece of content.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitzero"`
	ID        string          `json:"id,omitzero"`
	Name      string          `json:"name,omitzero"`
	Input     json.RawMessage `json:"input,omitzero"`
	ToolUseID string          `json:"tool_use_id,omitzero"`
	Content   []block         `json:"content,omitzero"`
	Source    *source         `json:"source,omitzero"`
}

// source is an image.
type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

// turn is one message of the API, encoded. Roles alternate there: messages of
// one role that follow each other make one turn.
type turn struct {
	role string
	data []byte // {"role":…,"content":[…]}; never changed
}

// turnEnd closes the last block, the content and the turn.
const turnEnd = "}]}"

// conversation keeps the encoded form of the messages that were sent last, so
// that a request costs only its new part.
type conversation struct {
	model string

	mu    sync.Mutex
	sent  remote.Sent // what turns hold
	turns []turn
}

// encode returns messages as the API has them, with commas between them. It uses
// again what it encoded before if messages begin with that.
func (c *conversation) encode(messages []llm.Message, marker string) ([][]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rest, continues := c.sent.Rest(messages)
	if !continues {
		c.turns = nil
	}
	for _, m := range rest {
		if err := c.add(m); err != nil {
			return nil, err
		}
	}
	return c.pieces(marker), nil
}

func (c *conversation) add(m llm.Message) error {
	role, blocks := "user", c.userBlocks(m)
	if m.Role == llm.Assistant {
		role, blocks = "assistant", c.answerBlocks(m)
	}
	if len(blocks) > 0 {
		content, err := remote.Marshal(blocks)
		if err != nil {
			return fmt.Errorf("encoding a message: %w", err)
		}
		c.grow(role, content[1:len(content)-1]) // without the brackets
	}
	c.sent.Add(m)
	return nil
}

// grow adds content to the last turn if that has the same role, else makes a new one.
func (c *conversation) grow(role string, content []byte) {
	last := len(c.turns) - 1
	if last >= 0 && c.turns[last].role == role {
		before := c.turns[last].data
		c.turns[last].data = slices.Concat(before[:len(before)-len("]}")], []byte{','}, content, []byte("]}"))
		return
	}
	c.turns = append(c.turns, newTurn(role, content))
}

func newTurn(role string, content []byte) turn {
	return turn{role: role, data: slices.Concat([]byte(`{"role":"`+role+`","content":[`), content, []byte("]}"))}
}

// pieces returns the turns as the API demands them: the first and the last are
// the person's, and the person's last ones carry markers. With those of the tools and
// of the system prompt that makes four, the most that a request may have.
func (c *conversation) pieces(marker string) [][]byte {
	turns := c.turns
	if len(turns) == 0 || turns[0].role == "assistant" {
		turns = slices.Insert(slices.Clone(turns), 0, spoken(opening))
	}
	if turns[len(turns)-1].role == "assistant" {
		turns = append(slices.Clip(turns), spoken(resume))
	}
	var pieces [][]byte
	marked := 0
	for i, t := range slices.Backward(turns) {
		if t.role == "user" && marked < remote.MarkedTurns {
			marked++
			pieces = append(pieces, []byte(marker+turnEnd), t.data[:len(t.data)-len(turnEnd)])
		} else {
			pieces = append(pieces, t.data)
		}
		if i > 0 {
			pieces = append(pieces, []byte{','})
		}
	}
	slices.Reverse(pieces)
	return pieces
}

// spoken returns a turn of the person with one of our texts, which need no escapes.
func spoken(text string) turn {
	return newTurn("user", []byte(`{"type":"text","text":"`+text+`"}`))
}

// used reports whether a call of the conversation has this id.
func (c *conversation) used(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent.Used(id)
}

// userBlocks returns the content of a message of the person, the program or a tool.
func (c *conversation) userBlocks(m llm.Message) []any {
	var content []block
	for _, p := range m.Parts {
		switch {
		case p.Kind == llm.ImagePart:
			content = append(content, block{Type: "image", Source: &source{
				Type: "base64", MediaType: p.Mime, Data: base64.StdEncoding.EncodeToString(p.Data),
			}})
		case p.Kind == llm.TextPart && strings.TrimSpace(p.Text) != "":
			content = append(content, block{Type: "text", Text: p.Text})
		}
	}
	if m.Role == llm.ToolReply {
		return []any{block{Type: "tool_result", ToolUseID: llm.SafeID(m.CallID, llm.MaxCallID), Content: content}}
	}
	if len(content) == 0 {
		content = []block{{Type: "text", Text: noText}}
	}
	blocks := make([]any, len(content))
	for i, b := range content {
		blocks[i] = b
	}
	return blocks
}

// answerBlocks returns the model's words and calls; nothing of an answer that was empty.
func (c *conversation) answerBlocks(m llm.Message) []any {
	var blocks []any
	for _, p := range m.Pieces(wireName, c.model) {
		switch {
		case p.Opaque != nil:
			blocks = append(blocks, p.Opaque)
		case p.Call != nil:
			blocks = append(blocks, useOf(*p.Call))
		default:
			blocks = append(blocks, block{Type: "text", Text: p.Text})
		}
	}
	return blocks
}

func useOf(call llm.ToolCall) block {
	return block{Type: "tool_use", ID: llm.SafeID(call.ID, llm.MaxCallID), Name: call.Name, Input: json.RawMessage(call.Object())}
}
