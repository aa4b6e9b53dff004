//go:build unix

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// Each wire carries a prompt with thinking, a call and its result.
func TestPromptOnEveryWire(t *testing.T) {
	t.Parallel()
	for wire, c := range map[string]struct {
		judge  func(body []byte) error
		path   string
		header string // with the key
		wants  []string
	}{
		"anthropic": {transcriptjudge.CheckMessages, "/v1/messages", "X-Api-Key", []string{`"output_config":{"effort":"high"}`, `"signature":"sig-0"`, `"top_k":5`, `"max_tokens":9000`}},
		"responses": {transcriptjudge.CheckResponses, "/v1/responses", "Authorization", []string{`"effort":"high"`, `"encrypted_content":"enc-0"`, `"top_k":5`, `"max_output_tokens":9000`}},
		"chat":      {transcriptjudge.Check, "/v1/chat/completions", "Authorization", []string{`"reasoning_effort":"high"`, `"top_k":5`, `"max_tokens":9000`}},
	} {
		t.Run(wire, func(t *testing.T) {
			server := llmtest.NewServer(t,
				llmtest.Turn{Reasoning: "I write it.", Calls: []llmtest.Call{{Name: "write_file", Args: `{"path":"new.txt","content":"new\n"}`}}},
				llmtest.Turn{Text: "It is written."})
			var mu sync.Mutex
			seen := map[string]string{} // path: key
			address, _ := counted(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				seen[r.URL.Path] = r.Header.Get(c.header)
				mu.Unlock()
				server.ServeHTTP(w, r)
			}))
			d := newDesk(t, server, nil)
			d.env = append(d.env, "MINE_KEY="+canary)
			d.keep("config.yaml", `
providers:
  mine:
    base_url: `+d.serves(address)+`
    api_key_env: MINE_KEY
    wire: `+wire+`
    models:
      large: {effort: high, max_tokens: 9000, extra: {top_k: 5}}
`)
			d.keep("servers.json", `[{"address":"`+address+`","provider":"mine"}]`)
			code, out := d.prompted("--model", "mine/large", "--permission-mode", "accept-edits")
			if code != 0 || !strings.Contains(out, "It is written.") {
				t.Fatalf("exit status %d: %s", code, out)
			}
			if data, err := os.ReadFile(filepath.Join(d.dir, "new.txt")); err != nil || string(data) != "new\n" {
				t.Errorf("%q, %v", data, err)
			}
			if key := strings.TrimPrefix(seen[c.path], "Bearer "); key != canary {
				t.Errorf("the key was %q; %v", key, seen)
			}
			for _, body := range server.Requests() {
				if err := c.judge(body); err != nil {
					t.Errorf("%v\n%s", err, body)
				}
			}
			last := string(server.Requests()[1])
			for _, want := range c.wants {
				if !strings.Contains(last, want) {
					t.Errorf("no %s in %s", want, last)
				}
			}
		})
	}
}

// A learned dialect outlives the process, until it is forgotten.
func TestDialectOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	refused := 0
	server := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
		request := string(body)
		switch {
		case strings.Count(request, `"role":"assistant"`) > strings.Count(request, `"reasoning_content":`):
			refused++
			return llmtest.Raw(http.StatusBadRequest, "application/json", `{"error":{"message":"The reasoning_content in the thinking mode must be passed back to the API.","type":"invalid_request_error"}}`)
		case strings.Contains(request, `"role":"tool"`):
			return llmtest.Turn{Text: "I have looked."}
		}
		return llmtest.Turn{Calls: []llmtest.Call{{Name: "list", Args: `{}`}}}
	})
	d := newDesk(t, server, nil)
	learned := "test at " + server.URL() + ": reasoning_content in every answer"
	for i, want := range []int{1, 1, 2} {
		if code, out := d.prompted(); code != 0 || !strings.Contains(out, "I have looked.") || refused != want {
			t.Fatalf("process %d: exit status %d, %d refusals: %s", i, code, refused, out)
		}
		if _, out := d.command("doctor"); !strings.Contains(out, learned) {
			t.Errorf("no %q in\n%s", learned, out)
		}
		if i == 0 {
			continue
		}
		if code, out := d.command("config", "forget-dialects"); code != 0 || !strings.Contains(out, "Forgot the dialect of one model.") {
			t.Errorf("exit status %d: %s", code, out)
		}
	}
}

// A server that states the demands of its kind one after another refuses once.
func TestDemandsOneAfterAnother(t *testing.T) {
	t.Parallel()
	refused := 0
	server := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
		for _, c := range []struct{ has, message string }{
			{`"max_tokens":`, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."},
			{`"role":"system"`, "Unsupported value: 'messages[0].role' does not support 'system' with this model."},
			{`"temperature":`, "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported."},
		} {
			if strings.Contains(string(body), c.has) {
				refused++
				return llmtest.Raw(http.StatusBadRequest, "application/json", `{"error":{"message":"`+c.message+`","type":"invalid_request_error"}}`)
			}
		}
		return llmtest.Turn{Text: "It is done."}
	})
	d := newDesk(t, server, nil)
	d.keep("config.yaml", `
providers:
  openai:
    models:
      test: {max_tokens: 900, temperature: 0.2}
`)
	for range 2 {
		if code, out := d.prompted(); code != 0 || !strings.Contains(out, "It is done.") || refused != 1 {
			t.Fatalf("exit status %d, %d refusals: %s", code, refused, out)
		}
	}
	want := "test at " + server.URL() + ": max_completion_tokens, role developer, no temperature"
	if _, out := d.command("doctor"); !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
}
