package local

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/fixedport"
)

// TestProbe imitates the servers that people run on their own machine.
func TestProbe(t *testing.T) {
	list := `{"data":[{"id":"qwen"}]}`
	show := func(more string) string {
		return `{"model_info":{"general.x":1,"qwen3.context_length":40960}` + more + `}`
	}
	for name, c := range map[string]struct {
		answers map[string]string
		want    Facts
	}{
		"ollama, not loaded": {
			map[string]string{"POST /api/show": show(`,"capabilities":["completion","tools"]`), "GET /api/ps": `{"models":[]}`},
			Facts{Server: "ollama", MaxContext: 40960},
		},
		"ollama, set in the model's file": {
			map[string]string{"POST /api/show": show(`,"parameters":"stop x\nnum_ctx    8192\n"`)},
			Facts{Server: "ollama", ContextWindow: 8192, MaxContext: 40960},
		},
		"ollama, loaded": {
			map[string]string{
				"POST /api/show": show(`,"parameters":"num_ctx 8192","capabilities":["completion"]`),
				"GET /api/ps":    `{"models":[{"name":"other","context_length":1},{"name":"qwen:latest","context_length":4096}]}`,
			},
			Facts{Server: "ollama", ContextWindow: 4096, MaxContext: 40960, NoTools: true},
		},
		"LM Studio": {
			map[string]string{"GET /api/v0/models": `{"data":[{"id":"x"},{"id":"qwen","max_context_length":32768,"loaded_context_length":4096}]}`},
			Facts{Server: "lmstudio", ContextWindow: 4096, MaxContext: 32768},
		},
		"LM Studio, not loaded": {
			map[string]string{"GET /api/v0/models": `{"data":[{"id":"qwen","type":"llm","state":"not-loaded","max_context_length":32768,"capabilities":["tool_use"]}]}`},
			Facts{Server: "lmstudio", MaxContext: 32768, NotLoaded: true},
		},
		"LM Studio, not trained for tools": {
			map[string]string{"GET /api/v0/models": `{"data":[{"id":"x","capabilities":["tool_use"]},{"id":"qwen","state":"loaded","max_context_length":32768,"loaded_context_length":8192}]}`},
			Facts{Server: "lmstudio", ContextWindow: 8192, MaxContext: 32768, Untrained: true},
		},
		"llama.cpp": {
			map[string]string{"GET /props": `{"default_generation_settings":{"n_ctx":8192}}`},
			Facts{Server: "llamacpp", ContextWindow: 8192},
		},
		"vLLM": {
			map[string]string{"GET /v1/models": `{"data":[{"id":"qwen","max_model_len":16384}]}`},
			Facts{Server: "vllm", ContextWindow: 16384},
		},
		"another": {nil, Facts{}},
		"one that answers everything alike": {
			map[string]string{"POST /api/show": list, "GET /api/v0/models": list, "GET /props": list, "GET /api/ps": list}, Facts{},
		},
		"nonsense": {map[string]string{"POST /api/show": "<html>", "GET /api/v0/models": "[]", "GET /props": "7"}, Facts{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil || r.URL.Path == "/api/show" && !strings.Contains(string(body), `"qwen"`) {
					t.Errorf("%s, %v", body, err)
				}
				said, ok := c.answers[r.Method+" "+r.URL.Path]
				if !ok && r.URL.Path == "/v1/models" {
					said, ok = list, true
				}
				if !ok {
					http.NotFound(w, r)
					return
				}
				_, _ = io.WriteString(w, said) // the client may have gone
			}))
			t.Cleanup(s.Close)
			got, err := Probe(t.Context(), s.URL+"/v1", "qwen")
			if d := cmp.Diff(c.want, got); d != "" || err != nil {
				t.Error(d, err)
			}
		})
	}
}

func TestProbeOfNobody(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	if _, err := Probe(t.Context(), s.URL+"/v1", "m"); err == nil {
		t.Error("it lists no models, and that is no error")
	}
	silent := fmt.Sprintf("http://127.0.0.1:%d/v1", fixedport.Silent(t))
	if _, err := Probe(t.Context(), silent, "m"); err == nil {
		t.Error("nobody answers, and that is no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Probe(ctx, s.URL, "m"); err == nil {
		t.Error("no error")
	}
}

func TestOn(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:1/v1": true, "http://localhost:1/v1": true, "http://[::1]:1/v1": true, "https://api.openai.com/v1": false, "http://10.0.0.1/v1": false, "::": false,
	} {
		if got := On(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

func TestNear(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:8080/v1": true, "http://localhost/v1": true, "http://[::1]:1/v1": true, "http://192.168.1.5:11434/v1": true, "http://10.0.0.1/v1": true,
		"http://box.local:1234/v1": true, "http://gpu:8000/v1": true, "http://host.docker.internal:11434/v1": true, "http://[fe80::1]/v1": true,
		"https://api.openai.com/v1": false, "http://8.8.8.8/v1": false, "https://local.example/v1": false, "": false, "://": false,
	} {
		if got := Near(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

// TestProbeAll checks that every model is asked about within the time for one.
func TestProbeAll(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			_, _ = io.WriteString(w, `{"data":[{"id":"a"}]}`) // the client may have gone
		case "/api/v0/models":
			_, _ = io.WriteString(w, `{"data":[{"id":"a","max_context_length":10},{"id":"b","max_context_length":20}]}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	address := s.URL + "/v1"
	got := ProbeAll(t.Context(), []Model{{address, "a"}, {"http://127.0.0.1:1/v1", "a"}, {address, "b"}, {address, "c"}})
	want := []Facts{{Server: "lmstudio", MaxContext: 10}, {}, {Server: "lmstudio", MaxContext: 20}, {}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := ProbeAll(ctx, make([]Model, 20)); len(got) != 20 {
		t.Error(got)
	}
}
