package provider

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/app/keystore"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

func TestKey(t *testing.T) {
	t.Setenv("SOME_KEY", "from-env")
	prints, silent, shows, unset := []string{"printf", `a-key\nnote`}, []string{"true"}, []string{"sh", "-c", "echo seen:$SOME_KEY"}, "seen:"
	fails := []string{"sh", "-c", "echo locked >&2; exit 3"}
	if runtime.GOOS == "windows" {
		prints, silent = []string{"cmd", "/c", "echo a-key&echo note"}, []string{"cmd", "/c", "rem"}
		shows, unset = []string{"cmd", "/c", "echo seen:%SOME_KEY%"}, "seen:%SOME_KEY%"
		fails = []string{"cmd", "/c", "echo locked>&2&exit 3"}
	}
	for _, c := range []struct {
		name string
		in   config.Provider
		want string
		err  string
	}{
		{"none", config.Provider{}, "", ""},
		{"variable", config.Provider{APIKeyEnv: "SOME_KEY"}, "from-env", ""},
		{"variable that is not set", config.Provider{APIKeyEnv: "NO_SUCH_KEY"}, "", ""},
		{"command", config.Provider{APIKeyEnv: "SOME_KEY", APIKeyCommand: prints}, "a-key", ""},
		{"command that prints nothing", config.Provider{APIKeyCommand: silent}, "", silent[0] + " printed no key"},
		{"command sees no key", config.Provider{APIKeyCommand: shows}, unset, ""},
		{"command that fails", config.Provider{APIKeyCommand: fails}, "", "exit status 3: locked"},
		{"no such command", config.Provider{APIKeyCommand: []string{"no-such-program"}}, "", "no-such-program"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := key(t.Context(), c.in, config.Config{Home: t.TempDir(), Providers: map[string]config.Provider{"p": {APIKeyEnv: "SOME_KEY"}}})
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q, %v; want %q, %q", got, err, c.want, c.err)
			}
		})
	}
}

// A model accepts images until it refuses one, unless the configuration or public facts deny it: then it gets none of the conversation's images.
func TestImages(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		ref  string
		set  *bool
		want bool
	}{{"ollama/test", nil, true}, {"ollama/test", &no, false}, {"openai/gpt-7", nil, true}, {"groq/qwen/qwen3-32b", nil, false}, {"groq/qwen/qwen3-32b", &yes, true}} {
		provider, name, err := config.Split(c.ref)
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("OPENAI_API_KEY", "x")
		t.Setenv("GROQ_API_KEY", "x")
		cfg := config.Config{Home: t.TempDir(), Providers: map[string]config.Provider{provider: {Models: map[string]config.ModelOptions{name: {Images: c.set}}}}}
		m, err := cfg.Lookup(c.ref)
		if err != nil {
			t.Fatal(err)
		}
		made, err := New(cfg, m)
		if err != nil {
			t.Fatal(err)
		}
		if got := made.Info().Images; got != c.want {
			t.Errorf("%s, %v: %v", c.ref, c.set, got)
		}
	}
	sent := &recorder{}
	req := llm.Request{Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{
		{Kind: llm.TextPart, Text: "see"}, {Kind: llm.ImagePart, Mime: "image/png", Data: []byte{1}},
	}}}}
	for _, takes := range []bool{true, false} {
		m := model{Model: sent, images: takes}
		m.Stream(t.Context(), req)
		if got := len(sent.last.Messages[0].Parts) == 2; got != takes || m.Info().Images != takes || len(req.Messages[0].Parts) != 2 {
			t.Errorf("takes images %v, was sent them %v", takes, got)
		}
	}
}

// recorder is a model that records its requests.
type recorder struct{ last llm.Request }

func (r *recorder) Info() llm.Info { return llm.Info{Name: "r"} }

func (r *recorder) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	r.last = req
	return nil
}

func TestFree(t *testing.T) {
	for name, c := range map[string]struct {
		model config.Model
		want  bool
	}{
		"a server of one's own": {config.Model{}, true},
		"a key":                 {config.Model{Endpoint: config.Provider{APIKeyEnv: "K"}}, false},
		"a key by command":      {config.Model{Endpoint: config.Provider{APIKeyCommand: []string{"k"}}}, false},
		"a key in a header":     {config.Model{Endpoint: config.Provider{Headers: map[string]string{"api-key": "k"}}}, false},
		"prices":                {config.Model{Options: config.ModelOptions{Output: 1}}, false},
	} {
		if got := Client(config.Config{}, c.model).Info().Free; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestInfoHasTheConfiguredEffort(t *testing.T) {
	server := llmtest.NewServer(t)
	cfg := config.Config{Home: t.TempDir()}
	if got := open(t, &cfg, "a", server, config.ModelOptions{Effort: "high"}).Info().Effort; got != "high" {
		t.Errorf("%q", got)
	}
}

func TestKeyCommandEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := key(ctx, config.Provider{APIKeyCommand: []string{"sleep", "100"}}, config.Config{}); err == nil {
		t.Error("no error")
	}
}

func TestChooseTakesTheConfiguredModel(t *testing.T) {
	m, err := Choose(config.Config{Model: "ollama/m"})
	if err != nil || m.Ref != "ollama/m" || m.Endpoint.BaseURL == "" {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := Choose(config.Config{Model: "m"}); err == nil {
		t.Error("a name without a provider is taken")
	}
	if _, err := Choose(config.Config{}); !errors.Is(err, ErrNoModel) {
		t.Error(err)
	}
}

func TestNew(t *testing.T) {
	cfg := config.Config{}
	file := filepath.Join(t.TempDir(), "script.yaml")
	scratch.Write(t, file, "turns: [{text: hello}]")
	for ref, ok := range map[string]bool{"script:" + file: true, "script:/no/such/file": false, "ollama/m": true} {
		m, err := cfg.Lookup(ref)
		if err != nil {
			t.Fatal(err)
		}
		model, err := New(cfg, m)
		if (err == nil) != ok || ok && model.Info().Name != ref {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// A model without its key fails before anything is sent.
func TestMissingKey(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "CORP_KEY", "OPENAI_BASE_URL"} {
		t.Setenv(name, "")
	}
	corp := config.Provider{BaseURL: "http://10.0.0.1/v1", APIKeyEnv: "CORP_KEY"}
	for _, c := range []struct {
		name, model, env, key string
		provider              config.Provider
		want                  string
	}{
		{"hosted", "openai/m", "", "", config.Provider{}, "openai/m needs an API key, and OPENAI_API_KEY is not set"},
		{"hosted, with a key", "openai/m", "OPENAI_API_KEY", "k", config.Provider{}, ""},
		{"another server", "openai/m", "OPENAI_BASE_URL", "http://10.0.0.1/v1", config.Provider{}, ""},
		{"of that name only", "openai/m", "OPENAI_BASE_URL", "https://api.openai.com.example/v1", config.Provider{}, ""},
		{"one's own", "corp/m", "", "", corp, "CORP_KEY is not set"},
		{"a key by command", "corp/m", "", "", config.Provider{BaseURL: "http://a", APIKeyEnv: "CORP_KEY", APIKeyCommand: []string{"k"}}, ""},
		{"no key wanted", "ollama/m", "", "", config.Provider{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.env != "" {
				t.Setenv(c.env, c.key)
			}
			name, _, _ := strings.Cut(c.model, "/")
			cfg := config.Config{Providers: map[string]config.Provider{name: c.provider}}
			m, err := cfg.Lookup(c.model)
			if err != nil {
				t.Fatal(err)
			}
			err = MissingKey(cfg, m)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// A stored key is used for its address alone, and only if no other is configured.
func TestStoredKey(t *testing.T) {
	for _, name := range []string{"DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "OPENAI_API_KEY"} {
		t.Setenv(name, "")
	}
	cfg := config.Config{Home: t.TempDir()}
	p := config.Provider{BaseURL: "http://a/v1", APIKeyEnv: "OPENAI_API_KEY"}
	if _, err := keystore.Open(cfg.Home).Put(t.Context(), p.BaseURL, "kept"); err != nil {
		t.Fatal(err)
	}
	get := func(p config.Provider) string {
		t.Helper()
		got, err := key(t.Context(), p, cfg)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := get(p); got != "kept" {
		t.Errorf("%q", got)
	}
	if err := MissingKey(cfg, config.Model{Endpoint: p}); err != nil {
		t.Error(err)
	}
	if got := get(config.Provider{BaseURL: "http://b/v1", APIKeyEnv: "OPENAI_API_KEY"}); got != "" {
		t.Errorf("another address gets %q", got)
	}
	t.Setenv("OPENAI_API_KEY", "set")
	if got := get(p); got != "set" {
		t.Errorf("%q", got)
	}
}
