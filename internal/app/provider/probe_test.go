package provider

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/dev/fixedport"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/openai/local"
)

func TestNotes(t *testing.T) {
	for name, c := range map[string]struct {
		facts local.Facts
		set   int64
		want  []string
	}{
		"all is well":       {local.Facts{Server: "ollama", ContextWindow: 32768}, 0, nil},
		"nothing is known":  {local.Facts{}, 0, nil},
		"no tools":          {local.Facts{Server: "ollama", ContextWindow: 32768, NoTools: true}, 0, []string{"cannot call tools"}},
		"silent, no tools":  {local.Facts{Server: "ollama", NoTools: true}, 0, []string{"Choose another with /model"}},
		"silent ollama":     {local.Facts{Server: "ollama", MaxContext: 40960}, 0, []string{"OLLAMA_CONTEXT_LENGTH=32768", "takes 40960"}},
		"the user knows":    {local.Facts{Server: "ollama", MaxContext: 40960}, 32768, nil},
		"the user is wrong": {local.Facts{Server: "lmstudio", ContextWindow: 4096, MaxContext: 9000}, 32768, []string{"with 4096 tokens", "is 32768", "takes 9000"}},
		"little llama.cpp":  {local.Facts{Server: "llamacpp", ContextWindow: 12000}, 0, []string{"that is little", "larger -c"}},
		"tiny vLLM":         {local.Facts{Server: "vllm", ContextWindow: 4096}, 0, []string{"too little to work on files", "--max-model-len"}},
		"not trained":       {local.Facts{Server: "lmstudio", ContextWindow: 32768, Untrained: true}, 0, []string{"not trained to call tools"}},
		"not loaded":        {local.Facts{Server: "lmstudio", MaxContext: 9000, NotLoaded: true}, 0, []string{"has not loaded", "larger context length (the model takes 9000)"}},
	} {
		m := config.Model{Ref: "x/m", Options: config.ModelOptions{ContextWindow: c.set}}
		if c.set == 0 {
			m.Options.ContextWindow = c.facts.ContextWindow
		}
		var got []string
		for _, p := range Problems(m, Facts{Facts: c.facts, set: c.set > 0}) {
			got = append(got, p.String())
			if p.What == "" || p.Means == "" || p.Do == "" {
				t.Errorf("%s: %+v lacks a part", name, p)
			}
		}
		if (len(got) == 0) != (len(c.want) == 0) {
			t.Errorf("%s: %q", name, got)
		}
		for _, want := range c.want {
			if !strings.Contains(strings.Join(got, "\n"), want) {
				t.Errorf("%s: no %q in %q", name, want, got)
			}
		}
	}
}

func TestInspect(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			asked++
			_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`) // the client may have gone
		case "/props":
			_, _ = io.WriteString(w, `{"default_generation_settings":{"n_ctx":8192}}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	look := func(ref string, p config.Provider) (config.Model, []string) {
		t.Helper()
		name, _, _ := strings.Cut(ref, "/")
		cfg := config.Config{Providers: map[string]config.Provider{name: p}}
		m, err := cfg.Lookup(ref)
		if err != nil {
			t.Fatal(err)
		}
		return Inspect(t.Context(), config.Config{Home: t.TempDir()}, m)
	}
	if m, notes := look("llamacpp/m", config.Provider{BaseURL: s.URL + "/v1"}); m.Options.ContextWindow != 8192 || len(notes) != 1 {
		t.Errorf("%+v, %q", m, notes)
	}
	if m, notes := look("mine/m", config.Provider{BaseURL: s.URL + "/v1", ContextWindow: 4000}); m.Options.ContextWindow != 4000 || len(notes) != 1 {
		t.Errorf("%+v, %q", m, notes)
	}
	before := asked
	for ref, p := range map[string]config.Provider{
		"far/m": {BaseURL: "http://192.0.2.1/v1"}, "keyed/m": {BaseURL: s.URL + "/v1", APIKeyCommand: []string{"no-such-program"}},
	} {
		if _, notes := look(ref, p); len(notes) > 0 || asked != before {
			t.Errorf("%s was asked: %q", ref, notes)
		}
	}
	if _, notes := look("ollama/m", config.Provider{BaseURL: silent(t)}); len(notes) != 1 || !strings.Contains(notes[0], "does not answer") {
		t.Errorf("%q", notes)
	}
	if m, notes := Inspect(t.Context(), config.Config{}, config.Model{Provider: config.ScriptProvider, Name: "x"}); m.Name != "x" || len(notes) > 0 {
		t.Error(m, notes)
	}
}

// A server of llama.cpp is found at the address of its new versions as at that of its old ones, and
// of two the one that has the model is used.
func TestUsualAddresses(t *testing.T) {
	serves := func(list string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/v1/models":
				_, _ = io.WriteString(w, list) // the client may have gone
			case "/props":
				_, _ = io.WriteString(w, `{"default_generation_settings":{"n_ctx":16384}}`)
			default:
				http.NotFound(w, r)
			}
		}))
		t.Cleanup(s.Close)
		return s.URL + "/v1"
	}
	qwen, gemma, page := serves(`{"data":[{"id":"qwen"}]}`), serves(`{"models":[{"name":"gemma"}]}`), serves("<html>an application</html>")
	i := slices.IndexFunc(config.Locals, func(l config.LocalProvider) bool { return l.Name == "llamacpp" })
	usual := config.Locals[i].Addresses
	if d := cmp.Diff([]string{"http://127.0.0.1:8080/v1", "http://127.0.0.1:9931/v1"}, usual); d != "" {
		t.Error(d)
	}
	t.Cleanup(func() { config.Locals[i].Addresses = usual })
	for name, c := range map[string]struct {
		old, recent, model, want string
		configured               string
	}{
		"an old version":        {qwen, silent(t), "qwen", qwen, ""},
		"a new version":         {silent(t), qwen, "qwen", qwen, ""},
		"both, the first":       {qwen, gemma, "qwen", qwen, ""},
		"both, the second":      {qwen, gemma, "gemma", gemma, ""},
		"both, of another name": {qwen, gemma, "default", qwen, ""},
		"another program":       {page, gemma, "gemma", gemma, ""},
		"the user's address":    {qwen, gemma, "gemma", page, page},
	} {
		config.Locals[i].Addresses = []string{c.old, c.recent}
		cfg := config.Config{Home: t.TempDir(), Providers: map[string]config.Provider{"llamacpp": {BaseURL: c.configured}}}
		m, err := cfg.Lookup("llamacpp/" + c.model)
		if err != nil {
			t.Fatal(err)
		}
		if m, _ = Inspect(t.Context(), cfg, m); m.Endpoint.BaseURL != c.want || c.configured == "" && m.Options.ContextWindow != 16384 {
			t.Errorf("%s: %+v, want %s", name, m, c.want)
		}
	}
	config.Locals[i].Addresses = []string{silent(t), silent(t)}
	m, err := config.Config{}.Lookup("llamacpp/m")
	if err != nil {
		t.Fatal(err)
	}
	if _, notes := Inspect(t.Context(), config.Config{Home: t.TempDir()}, m); len(notes) != 1 || !strings.Contains(notes[0], "does not answer") {
		t.Errorf("%q", notes)
	}
}

// A model that cannot call tools is reported with the server's words, and is sent
// nothing about tools.
func TestAModelWithoutTools(t *testing.T) {
	var sent []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		switch r.URL.Path {
		case "/v1/models":
			_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`) // the client may have gone
		case "/props":
			_, _ = io.WriteString(w, `{"default_generation_settings":{"n_ctx":32768}}`)
		case "/v1/chat/completions":
			sent = append(sent, string(body))
			if strings.Contains(string(body), `"tools"`) {
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = io.WriteString(w, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Hello.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	cfg := config.Config{Providers: map[string]config.Provider{"llamacpp": {BaseURL: s.URL + "/v1"}}}
	m, err := cfg.Lookup("llamacpp/m")
	if err != nil {
		t.Fatal(err)
	}
	m, notes := Inspect(t.Context(), cfg, m)
	if !m.NoTools || len(notes) != 1 || !strings.Contains(notes[0], "cannot read or change files") || !strings.Contains(notes[0], "tools param requires --jinja flag") {
		t.Errorf("%+v, %q", m, notes)
	}
	model, err := New(cfg, m)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	req := llm.Request{
		Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{{Kind: llm.TextPart, Text: "hi"}}}},
		Tools:    []llm.ToolSpec{{Name: "read_file", Schema: []byte(`{"type":"object"}`)}},
	}
	for d, err := range model.Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		text += d.Text
	}
	if text != "Hello." || len(sent) != 2 {
		t.Errorf("%q, %q", text, sent)
	}
}

// Models to choose are listed with the server's facts.
func TestOffers(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			_, _ = io.WriteString(w, `{"data":[{"id":"a"},{"id":"b"},{"id":"c","context_length":9000},{"id":"text-embedding-3"}]}`) // the client may have gone
		case "/api/v0/models":
			_, _ = io.WriteString(w, `{"data":[{"id":"a","max_context_length":9000,"loaded_context_length":4096,"capabilities":["tool_use"]},{"id":"b","max_context_length":20}]}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	cfg := config.Config{Providers: map[string]config.Provider{"lmstudio": {BaseURL: s.URL + "/v1"}}}
	offers := func(ref string) ([]Offer, error) {
		m, err := cfg.Lookup(ref)
		if err != nil {
			t.Fatal(err)
		}
		return Offers(t.Context(), cfg, m)
	}
	got, err := offers("lmstudio/a")
	want := []Offer{
		{"lmstudio/a", "4096 tokens of context, the model takes up to 9000"},
		{"lmstudio/b", "not trained for tools, the model takes up to 20"},
		{"lmstudio/c", "9000 tokens of context"},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if got, err := offers("script:x"); err != nil || len(got) != 1 || got[0].Ref != "script:x" {
		t.Error(got, err)
	}
	cfg.Providers["lmstudio"] = config.Provider{BaseURL: silent(t)}
	if _, err := offers("lmstudio/a"); err == nil {
		t.Error("nobody answers, and that is no error")
	}
}

// silent returns the address of a server that does not run.
func silent(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("http://127.0.0.1:%d/v1", fixedport.Silent(t))
}
