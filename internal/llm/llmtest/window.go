package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

// Shape is how a server treats a conversation that does not fit.
type Shape int

// The shapes.
const (
	OpenAI     Shape = iota // names the window and the size
	VLLM                    // also counts the room for the answer
	LlamaCpp                // reports them as numbers of their own
	Wordless                // reports that it does not fit, without numbers
	Truncating              // silently drops the oldest messages
	shapes
)

// Shapes is the number of shapes.
const Shapes = int(shapes)

// Window is a model with a context of Tokens tokens of PerToken bytes each. Any
// goroutine may call its methods.
type Window struct {
	Tokens   int
	PerToken float64
	Shape    Shape
	Answer   func(n int, body []byte) Turn // answers a request that fits

	mu    sync.Mutex
	fates []Fate
}

// Fate records how a request was treated.
type Fate struct {
	Tokens             int
	Refused, Truncated bool
}

// Fates returns the fates of the requests so far, in order.
func (w *Window) Fates() []Fate {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Fate(nil), w.fates...)
}

// Turn answers a request; see NewServerFunc.
func (w *Window) Turn(n int, body []byte) Turn {
	has := w.count(body)
	fate := Fate{Tokens: has, Refused: has > w.Tokens && w.Shape != Truncating, Truncated: has > w.Tokens && w.Shape == Truncating}
	w.mu.Lock()
	w.fates = append(w.fates, fate)
	w.mu.Unlock()
	if fate.Refused {
		return w.refusal(has)
	}
	turn := w.Answer(n, body)
	turn.Usage = &Usage{Input: min(has, w.Tokens), Output: 20}
	return turn
}

// answerRoom is the number of tokens that vLLM reserves for the answer.
const answerRoom = 64

func (w *Window) refusal(has int) Turn {
	refuse := func(format string, args ...any) Turn {
		return Raw(http.StatusBadRequest, "application/json", fmt.Sprintf(format, args...))
	}
	switch w.Shape {
	case VLLM:
		return refuse(`{"object":"error","message":"This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","code":400}`,
			w.Tokens+answerRoom, has+answerRoom, has, answerRoom)
	case LlamaCpp:
		return refuse(`{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%d}}`,
			has, w.Tokens)
	case Wordless:
		return refuse(`{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","code":"context_length_exceeded"}}`)
	default:
		return refuse(`{"error":{"message":"This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
			w.Tokens, has)
	}
}

// count counts the texts of a request, with an allowance for each message and tool.
func (w *Window) count(body []byte) int {
	var req struct {
		Messages []struct {
			Content   any               `json:"content"`
			ToolCalls []json.RawMessage `json:"tool_calls"`
		} `json:"messages"`
		Tools []json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return 0
	}
	bytes := 0
	for _, m := range req.Messages {
		bytes += 12
		if s, ok := m.Content.(string); ok {
			bytes += len(s)
		}
		for _, c := range m.ToolCalls {
			bytes += len(c)
		}
	}
	for _, t := range req.Tools {
		bytes += len(t)
	}
	return int(float64(bytes)/w.PerToken) + 1
}
