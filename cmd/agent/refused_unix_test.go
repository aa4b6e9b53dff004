//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// refuses returns a server that refuses each request with a part, in words that nobody knows,
// and how often it did.
func refuses(t *testing.T, part []byte, message string, first ...llmtest.Turn) (s *llmtest.Server, refused *atomic.Int32) {
	t.Helper()
	refused = new(atomic.Int32)
	said := 0
	s = llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
		if bytes.Contains(body, part) {
			refused.Add(1)
			return llmtest.Raw(400, "application/json", fmt.Sprintf(`{"error":{"type":"invalid_request_error","message":%q}}`, message))
		}
		if said++; said <= len(first) {
			return first[said-1]
		}
		return llmtest.Turn{Text: fmt.Sprintf("Answer %d.", said)}
	})
	return s, refused
}

// A picture that the server refuses does not end the conversation: the model gets a remark in
// its place.
func TestRefusedPicture(t *testing.T) {
	t.Parallel()
	for _, wire := range []string{"chat", "responses", "anthropic"} {
		t.Run(wire, func(t *testing.T) {
			data := gray(t, 12, 8, asPNG)
			s, refused := refuses(t, []byte(base64.StdEncoding.EncodeToString(data)), "The frobnicator is unhappy", callOf("read_file", `{"path":"shot"}`))
			d := newDesk(t, s, nil)
			d.write("shot", string(data))
			d.eyes(wire, true)
			d.sit()
			d.say("look")
			d.WaitFor(`(?s)The server refused the image.*The frobnicator is unhappy.*`)
			d.WaitFor(`Answer 2\.`)
			d.idle()
			d.say("go on")
			d.WaitFor(`Answer 3\.`)
			d.idle()
			d.leave()
			if n := len(s.Requests()); refused.Load() != 1 || n != 4 || !bytes.Contains(s.Requests()[3], []byte("(an image that the server could not read)")) {
				t.Errorf("%d requests, %d refused", n, refused.Load())
			}
		})
	}
}

// A tool of an MCP server that the server refuses is left out, and the others stay.
func TestRefusedTool(t *testing.T) {
	t.Parallel()
	for wire, message := range map[string]string{
		"chat":      "Invalid schema for function 'mcp__t__echo': In context=(), array schema missing items.",
		"responses": "Invalid schema for function 'mcp__t__echo': Please ensure it is a valid JSON Schema.",
		"anthropic": "tools: mcp__t__echo: JSON schema is invalid. It must match JSON Schema draft 2020-12.",
	} {
		t.Run(wire, func(t *testing.T) {
			s, refused := refuses(t, []byte(`"mcp__t__echo"`), message)
			d := newDesk(t, s, nil)
			d.eyes(wire, true)
			config, err := os.ReadFile(filepath.Join(d.home, "config.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			d.keep("config.yaml", fmt.Sprintf("%smcp:\n  t:\n    command: [%s, mcp-server]\n", config, os.Args[0]))
			d.sit()
			d.say("hi")
			d.WaitFor(`(?s)1 tool of an MCP server is left out.*mcp__t__echo`)
			d.WaitFor(`Answer 1\.`)
			d.idle()
			d.say("go on")
			d.WaitFor(`Answer 2\.`)
			d.idle()
			d.leave()
			if n := len(s.Requests()); refused.Load() != 1 || n != 3 || !bytes.Contains(s.Requests()[2], []byte(`"mcp__t__fail"`)) {
				t.Errorf("%d requests, %d refused", n, refused.Load())
			}
		})
	}
}

// A server that asks to wait for hours is not asked again at once, and the person learns until
// when.
func TestALongWaitEndsTheTurn(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServerFunc(t, func(int, []byte) llmtest.Turn {
		return llmtest.Turn{Handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "10800")
			w.WriteHeader(http.StatusTooManyRequests)
		}}
	})
	d := newDesk(t, s, nil)
	code, out := d.prompted()
	if code != 1 || len(s.Requests()) != 1 || !strings.Contains(out, "The server asks to wait 3 hours, until ") {
		t.Errorf("exit status %d after %d requests: %s", code, len(s.Requests()), out)
	}
}

// A server on this machine reads a prompt for longer than idle_timeout, without a sign of life:
// it is asked once.
func TestALocalServerReadsForLong(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServerFunc(t, func(int, []byte) llmtest.Turn {
		return llmtest.Turn{Handler: func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(2500 * time.Millisecond):
			case <-r.Context().Done():
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"I have read it."},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
		}}
	})
	d := newDesk(t, s, nil)
	d.keep("config.yaml", "idle_timeout: 1s\n")
	if code, out := d.prompted(); code != 0 || len(s.Requests()) != 1 || !strings.Contains(out, "I have read it.") {
		t.Errorf("exit status %d after %d requests: %s", code, len(s.Requests()), out)
	}
}
