package openai

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

func serve(t *testing.T, status int, body string) string {
	t.Helper()
	s := httptest.NewServer(llmtest.Raw(status, "application/json", body).Handler)
	t.Cleanup(s.Close)
	return s.URL
}

func TestListModels(t *testing.T) {
	yes, no := true, false
	tests := map[string]struct {
		body string
		want []remote.ModelInfo
	}{
		"usual": {`{"object":"list","data":[{"id":"b","created":null},{"id":"a"}]}`, []remote.ModelInfo{{ID: "b"}, {ID: "a"}}},
		"list":  {`[{"id":"a","context_length":8192}]`, []remote.ModelInfo{{ID: "a", ContextWindow: 8192}}},
		"names": {`{"models":[{"name":"a"}]}`, []remote.ModelInfo{{ID: "a"}}},
		"vLLM":  {`{"data":[{"id":"a","max_model_len":4096}]}`, []remote.ModelInfo{{ID: "a", ContextWindow: 4096}}},
		"prices of a token": {
			`{"data":[{"id":"a","context_length":9,"architecture":{"input_modalities":["text","image"]},"pricing":{"prompt":"0.0000031","completion":"0.0000155","input_cache_read":"3.1e-7","input_cache_write":null}}]}`,
			[]remote.ModelInfo{{ID: "a", ContextWindow: 9, Prices: remote.Prices{Input: 3.1, Output: 15.5, Cached: 0.31}, Images: &yes}},
		},
		"prices of a million": {
			`[{"id":"a","pricing":{"hourly":0,"input":0.6,"output":3.6,"cached_input":0.1}}]`,
			[]remote.ModelInfo{{ID: "a", Prices: remote.Prices{Input: 0.6, Output: 3.6, Cached: 0.1}}},
		},
		"no vision": {`{"data":[{"id":"a","max_context_length":9,"capabilities":{"vision":false}}]}`, []remote.ModelInfo{{ID: "a", ContextWindow: 9, Images: &no}}},
		"pictures":  {`{"data":[{"id":"a","max_input_tokens":9,"capabilities":{"image_input":{"supported":true}}}]}`, []remote.ModelInfo{{ID: "a", ContextWindow: 9, Images: &yes}}},
		"other forms": {
			`{"data":[{"id":"a","context_length":"9","pricing":"free","capabilities":["chat"],"architecture":[]},{"id":"b","pricing":{"prompt":"-1","completion":{},"input":true},"context_window":9},7,null]}`,
			[]remote.ModelInfo{{ID: "a"}, {ID: "b", ContextWindow: 9}},
		},
		"none":   {`{"data":[]}`, nil},
		"no ids": {`{"data":[{}]}`, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := client(t, serve(t, 200, test.body)).ListModels(t.Context())
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
}

// A list of several pages is read to its end, but not for ever.
func TestListModelsPages(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch after := r.URL.Query().Get("after_id"); after {
		case "":
			llmtest.Raw(200, "application/json", `{"data":[{"id":"a"},{"id":"b/c"}],"has_more":true,"last_id":"b/c"}`).Handler(w, r)
		case "b/c":
			llmtest.Raw(200, "application/json", `{"data":[{"id":"d"}],"has_more":false,"last_id":"d"}`).Handler(w, r)
		default:
			t.Errorf("a page after %q", after)
		}
	}))
	t.Cleanup(s.Close)
	got, err := client(t, s.URL).ListModels(t.Context())
	if diff := cmp.Diff([]remote.ModelInfo{{ID: "a"}, {ID: "b/c"}, {ID: "d"}}, got); diff != "" || err != nil || asked != 2 {
		t.Error(diff, err, asked)
	}
	if got, err := client(t, serve(t, 200, `{"data":[{"id":"a"}],"has_more":true,"last_id":"a"}`)).ListModels(t.Context()); err != nil || len(got) > 100 {
		t.Errorf("%d models, %v", len(got), err)
	}
}

func TestListModelsFails(t *testing.T) {
	tests := map[string]struct {
		url  string
		kind llm.ErrorKind
	}{
		"refused":     {serve(t, 401, `{"error":{"message":"no"}}`), llm.Unauthorized},
		"page":        {serve(t, 200, "\n<html>"), llm.NotFound},
		"not JSON":    {serve(t, 200, "hello"), llm.Temporary},
		"nobody":      {"http://" + nobody(t), llm.Unreachable},
		"no address":  {"::", llm.Unreachable},
		"not allowed": {serve(t, 405, ""), llm.Refused},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := client(t, test.url).ListModels(t.Context())
			if e := (response{err: err}).kind(t); e.Kind != test.kind || e.Message == "" {
				t.Errorf("kind %d, %v", e.Kind, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client(t, serve(t, 200, "{}")).ListModels(ctx); err != context.Canceled { //nolint:errorlint // the bare error is promised
		t.Error(err)
	}
}

func TestFindLocals(t *testing.T) {
	none := remote.Local{Name: "none", BaseURL: "http://" + nobody(t)}
	web := remote.Local{Name: "web", BaseURL: serve(t, 200, "<html>")}
	empty := remote.Local{Name: "empty", BaseURL: serve(t, 200, `{"data":[{"id":"nomic-embed-text"}]}`)}
	first := remote.Local{Name: "first", BaseURL: serve(t, 200, `{"data":[{"id":"nomic-embed-text"},{"id":"qwen"}]}`)}
	second := remote.Local{Name: "second", BaseURL: serve(t, 200, `{"data":[{"id":"llama"}]}`)}
	asked := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}))
	t.Cleanup(hangs.Close)
	slow := remote.Local{Name: "slow", BaseURL: hangs.URL}

	got := remote.FindLocals(t.Context(), []remote.Local{none, web, empty, slow, first, second})
	first.Models, second.Models = []remote.ModelInfo{{ID: "qwen"}}, []remote.ModelInfo{{ID: "llama"}}
	if diff := cmp.Diff([]remote.Local{first, second}, got); diff != "" {
		t.Error(diff)
	}
	<-asked // the server that hangs was asked
	if got := remote.FindLocals(t.Context(), []remote.Local{none, web, empty}); len(got) > 0 {
		t.Errorf("found %+v", got)
	}
}
