//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// strangeTools writes a list of n tools of a server, with long and odd names, long or no descriptions, and the schemas of
// published servers and those that a provider has refused.
func strangeTools(t *testing.T, n int) (file string) {
	t.Helper()
	var schemas []json.RawMessage
	for _, name := range []string{"shapes.jsonl", "refused.jsonl"} {
		f, err := os.Open(filepath.Join("../../internal/llm/toolschema/testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for in := bufio.NewScanner(f); in.Scan(); {
			var one struct{ Schema json.RawMessage }
			if err := json.Unmarshal(in.Bytes(), &one); err != nil {
				t.Fatal(err)
			}
			if one.Schema == nil {
				one.Schema = json.RawMessage(in.Text())
			}
			schemas = append(schemas, one.Schema)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(schemas) > n {
		t.Fatalf("%d schemas", len(schemas))
	}
	names := []string{strings.Repeat("a_long_name-", 8), "Größe/odd.name:of tool", "1st", strings.Repeat("名", 40), strings.Repeat("x", 64)}
	var all []map[string]any
	for i := range n {
		one := map[string]any{"name": fmt.Sprintf("%s%d", names[i%len(names)], i), "inputSchema": schemas[i%len(schemas)]}
		if i%3 > 0 {
			one["description"] = strings.Repeat("It does something. ", 1+i%3*40)
		}
		all = append(all, one)
	}
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "tools.json")
	scratch.Write(t, file, string(data))
	return file
}

// TestProvidersTakeTheTools: the tools of a server, more than a request may have, with strange names and schemas, are offered as
// each provider takes them, at once or once they are found, and can be called. A server that is strict refuses everything else.
func TestProvidersTakeTheTools(t *testing.T) {
	t.Parallel()
	file := strangeTools(t, 140)
	for name, c := range map[string]struct{ rules, wire, path string }{
		"openai":      {"openai", "responses", ""},
		"openai-chat": {"openai", "chat", ""},
		"azure":       {"azure", "chat", "/x.openai.azure.com/openai"},
		"anthropic":   {"anthropic", "anthropic", ""},
		"gemini":      {"gemini", "chat", "/generativelanguage.googleapis.com/v1beta/openai"},
		"moonshot":    {"moonshot", "chat", "/api.moonshot.ai"},
		"fireworks":   {"fireworks", "chat", "/api.fireworks.ai/inference"},
		"xai":         {"xai", "chat", "/api.x.ai/v1"},
		"mistral":     {"mistral", "chat", "/api.mistral.ai"},
		"deepseek":    {"deepseek", "chat", "/api.deepseek.com"},
		"groq":        {"groq", "chat", "/api.groq.com/openai"},
	} {
		for _, load := range []string{"always", "auto"} {
			t.Run(name+"/"+load, func(t *testing.T) {
				s := &strictServer{t: t, rules: transcriptjudge.Providers[c.rules], check: map[string]func([]byte) error{
					"chat": transcriptjudge.Check, "responses": transcriptjudge.CheckResponses, "anthropic": transcriptjudge.CheckMessages,
				}[c.wire]}
				d := newDesk(t, llmtest.NewServerFunc(t, s.answer), nil)
				entry := fmt.Sprintf("{command: [%q, mcp-server, %q], load: always}", os.Args[0], "tools="+file)
				if load == "auto" {
					entry = strings.Replace(entry, ", load: always", "", 1)
				}
				d.keep("config.yaml", fmt.Sprintf("providers:\n  mine:\n    base_url: %s\n    wire: %s\nmcp:\n  t: %s\n", d.server.URL()+c.path, c.wire, entry))
				d.env = append(d.env, "AGENT_MODEL=mine/large", "OPENAI_BASE_URL=")
				code, out := d.prompted("--allow", "mcp__t")
				if code != 0 || !strings.Contains(out, "All is done.") || s.called == "" {
					t.Errorf("%d, %q was called: %s", code, s.called, out)
				}
				requests := d.server.Requests()
				if last := string(requests[len(requests)-1]); !strings.Contains(last, `"echo"`) {
					t.Errorf("%s has no result: %.3000s", s.called, last)
				}
				t.Logf("%d requests, %d tools of %s in one", len(requests), s.most, name)
			})
		}
	}
}

// strictServer refuses requests by the rules of its provider.
type strictServer struct {
	t     *testing.T
	rules transcriptjudge.Rules
	check func(body []byte) error

	mu     sync.Mutex
	called string
	most   int
}

var offeredName = regexp.MustCompile(`"name":"(mcp__t__[^"]+)"`)

func (s *strictServer) answer(_ int, body []byte) llmtest.Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.rules.Tools(body)
	s.most = max(s.most, n)
	if err = errors.Join(err, s.check(body)); err != nil {
		s.t.Errorf("%.3000v", err)
		message, err := json.Marshal(fmt.Sprintf("Invalid tools: %.300v", err))
		if err != nil {
			s.t.Error(err)
		}
		return llmtest.Raw(http.StatusBadRequest, "application/json", `{"error":{"type":"invalid_request_error","message":`+string(message)+`}}`)
	}
	offered := offeredName.FindSubmatch(body)
	switch {
	case s.called != "":
		return llmtest.Turn{Text: "All is done."}
	case offered == nil:
		return callOf("tool_search", `{"query":"a long name of something"}`)
	}
	s.called = string(offered[1])
	return callOf(s.called, `{}`)
}
