package openai

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// Reasoning in tags at the very beginning of a text is not part of the answer, however the
// text is split.
func TestThinkTags(t *testing.T) {
	for _, c := range []struct{ sent, reasoning, text string }{
		{"<think>I add.</think>2", "I add.", "2"},
		{"\n<think>\nI add.\n</think>\n\n 2\n", "I add.\n", "2\n"},
		{"<think>\n\n</think>\n\n2", "", "2"},
		{"<think></think><think>x</think>", "", "<think>x</think>"},
		{"<think>a < b </ b </thin></think>so", "a < b </ b </thin>", "so"},
		{"<think>I never end", "I never end", ""},
		{"<think>I nearly end</thin", "I nearly end</thin", ""},
		{"<think>", "", ""},
		{"<thinking>x</thinking>", "", "<thinking>x</thinking>"},
		{"<thi", "", "<thi"},
		{"  <b>", "", "  <b>"},
		{strings.Repeat(" ", 1200) + "<think>x", "", strings.Repeat(" ", 1200) + "<think>x"},
		{"The tag <think>x</think> is text", "", "The tag <think>x</think> is text"},
		{"x</think>y", "", "x</think>y"},
	} {
		for chunk := range min(len(c.sent), 40) {
			turn := llmtest.Turn{Text: c.sent, Chunk: chunk + 1}
			h := collect(t.Context(), client(t, llmtest.NewServer(t, turn).URL()), hello())
			if h.err != nil || h.end == nil || h.text != c.text || h.reasoning != c.reasoning {
				t.Errorf("%q in pieces of %d: reasoning %q, text %q, error %v", c.sent, chunk+1, h.reasoning, h.text, h.err)
			}
		}
	}
}

// A server that sends no finish reason, and ends in a part of the tag.
func TestThinkTagAtAnEndWithoutReason(t *testing.T) {
	s := llmtest.NewServer(t, sse(events(says("<thi"), finished)))
	if h := collect(t.Context(), client(t, s.URL()), hello()); h.err != nil || h.text != "<thi" {
		t.Errorf("%+v", h)
	}
}
