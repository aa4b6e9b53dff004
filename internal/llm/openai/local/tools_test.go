package local

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// serve answers every request in the same way.
func serve(t *testing.T, status int, body string, check func(path string, got map[string]any)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var got map[string]any
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		check(r.URL.Path, got)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the client may have gone
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// TestRefusesTools lists the messages of llama.cpp and vLLM.
func TestRefusesTools(t *testing.T) {
	vllm := `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`
	quoted, err := json.Marshal(vllm)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		status     int
		body, want string
	}{
		"it takes them":   {200, `{"choices":[]}`, ""},
		"llama.cpp":       {500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`, "tools param requires --jinja flag"},
		"vLLM":            {400, `{"error":{"message":` + string(quoted) + `,"type":"BadRequestError","code":400}}`, vllm},
		"an older vLLM":   {400, `{"object":"error","message":` + string(quoted) + `,"code":400}`, vllm},
		"something else":  {503, `{"error":{"message":"Loading model"}}`, ""},
		"no JSON":         {502, `<html>tools</html>`, ""},
		"nothing at all":  {500, ``, ""},
		"of another kind": {400, `[]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			address := serve(t, c.status, c.body, func(path string, got map[string]any) {
				if path != "/v1/chat/completions" || got["max_tokens"] != 1.0 || got["model"] != "m" || got["tools"] == nil {
					t.Errorf("%s %v", path, got)
				}
			})
			if got := RefusesTools(t.Context(), address, "m"); got != c.want {
				t.Errorf("%q", got)
			}
		})
	}
	if got := RefusesTools(t.Context(), "http://127.0.0.1:1/v1", "m"); got != "" {
		t.Errorf("%q", got)
	}
}

func TestCopy(t *testing.T) {
	want := map[string]any{"model": "qwen3:32k", "from": "qwen3", "stream": false, "parameters": map[string]any{"num_ctx": 32768.0}}
	for name, c := range map[string]struct {
		status    int
		body, err string
	}{
		"made":          {200, `{"status":"success"}`, ""},
		"no such model": {404, `{"error":"model 'qwen3' not found"}`, "model 'qwen3' not found (404 Not Found)"},
		"no answer":     {200, ``, "the server answered: (200 OK)"},
		"not done":      {200, `{"status":"pulling"}`, "the server answered"},
	} {
		t.Run(name, func(t *testing.T) {
			address := serve(t, c.status, c.body, func(path string, got map[string]any) {
				if d := cmp.Diff(want, got); d != "" || path != "/api/create" {
					t.Error(path, d)
				}
			})
			err := Copy(t.Context(), address, "qwen3", CopyName("qwen3", 32768), 32768)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Error(err)
			}
		})
	}
	if err := Copy(t.Context(), "http://127.0.0.1:1/v1", "m", "n", 1); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Error(err)
	}
	for model, want := range map[string]string{"qwen3": "qwen3:32k", "qwen3:latest": "qwen3:32k", "qwen3:8b": "qwen3:8b-32k", "hf.co/a/b:Q4": "hf.co/a/b:Q4-32k"} {
		if got := CopyName(model, 32768); got != want {
			t.Errorf("%s: %s", model, got)
		}
	}
}
