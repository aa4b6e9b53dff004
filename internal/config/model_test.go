package config

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const providersFile = `
providers:
  Corp.X:
    base_url: https://models.example/v1
    api_key_command: [pass, show, corp]
    headers:
      X-Team: Red
    context_window: 32000
    models:
      gpt-4.1:
        context_window: 1000000
        price_input: 2
        price_output: 8
        price_cached: 0.5
  openai:
    models:
      gpt-4.1: {price_input: 2}
  half: {api_key_env: HALF_KEY}
`

func TestSplit(t *testing.T) {
	for _, c := range []struct{ ref, provider, name string }{
		{"openai/gpt-5", "openai", "gpt-5"},
		{"openrouter/openai/x", "openrouter", "openai/x"},
		{"script:testdata/a b.yaml", "script", "testdata/a b.yaml"},
		{"script:/abs/a.yaml", "script", "/abs/a.yaml"},
		{"gpt-5", "", ""},
		{"/x", "", ""},
		{"x/", "", ""},
		{"", "", ""},
		{"script:", "", ""},
	} {
		p, n, err := Split(c.ref)
		if p != c.provider || n != c.name || (err != nil) != (c.provider == "") {
			t.Errorf("Split(%q) = %q, %q, %v", c.ref, p, n, err)
		}
	}
}

func TestLookup(t *testing.T) {
	home(t, providersFile)
	t.Setenv("AGENT_MODEL", "Corp.X/gpt-4.1")
	c := load(t, nil)
	for _, tc := range []struct {
		ref  string
		want Model
		err  string
	}{
		{ref: "Corp.X/gpt-4.1", want: Model{
			Ref: "Corp.X/gpt-4.1", Provider: "Corp.X", Name: "gpt-4.1",
			Endpoint: c.Providers["Corp.X"],
			Options:  ModelOptions{ContextWindow: 1000000, Input: 2, Output: 8, Cached: 0.5},
		}},
		{ref: "Corp.X/other", want: Model{
			Ref: "Corp.X/other", Provider: "Corp.X", Name: "other",
			Endpoint: c.Providers["Corp.X"], Options: ModelOptions{ContextWindow: 32000},
			Elsewhere: true,
		}},
		{ref: "ollama/qwen3", want: Model{
			Ref: "ollama/qwen3", Provider: "ollama", Name: "qwen3", Endpoint: Provider{BaseURL: "http://127.0.0.1:11434/v1"},
			Elsewhere: true,
		}},
		{ref: "script:x.yaml", want: Model{Ref: "script:x.yaml", Provider: "script", Name: "x.yaml", Elsewhere: true}},
		{ref: "corp.x/gpt-4.1", err: `unknown provider "corp.x"; known are anthropic, `},
		{ref: "half/m", err: `"half" has no base_url`},
		{ref: "gpt-4.1", err: "for example openai/gpt-4.1"},
	} {
		t.Run(tc.ref, func(t *testing.T) {
			got, err := c.Lookup(tc.ref)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("error %v, want %q", err, tc.err)
				}
				return
			}
			if d := cmp.Diff(tc.want, got); d != "" || err != nil {
				t.Error(err, d)
			}
		})
	}
}

func TestOpenAINeedsTheEnvironmentAlone(t *testing.T) {
	home(t, "")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
	t.Setenv("AGENT_MODEL", "openai/m")
	c := load(t, nil)
	m, err := c.Lookup(c.Model)
	if err != nil || m.Endpoint.BaseURL != "http://127.0.0.1:9/v1" || m.Endpoint.APIKeyEnv != "OPENAI_API_KEY" || !m.FromPair {
		t.Errorf("%+v, %v", m, err)
	}
	for _, file := range []string{"api_key_env: OPENAI_API_KEY", "api_key_command: [key]", "headers: {X-Team: a}"} {
		home(t, "model: openai/m\nproviders:\n  openai:\n    "+file+"\n")
		t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
		c := load(t, nil)
		if m, err := c.Lookup(c.Model); err != nil || m.FromPair || m.From == "" {
			t.Errorf("%s: %+v, %v", file, m, err)
		}
	}
	home(t, "model: openai/m\n")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
	t.Setenv("AGENT_BASE_URL", "http://127.0.0.1:10/v1")
	c = load(t, nil)
	if m, err := c.Lookup(c.Model); err != nil || m.FromPair || m.From == "" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestBaseURLReplacesThatOfTheProvider(t *testing.T) {
	home(t, "")
	for _, ref := range []string{"openai/m", "unheard-of/m"} {
		c := load(t, Overrides{"base_url": "http://127.0.0.1:9/v1", "model": ref})
		if m, err := c.Lookup(ref); err != nil || m.Endpoint.BaseURL != "http://127.0.0.1:9/v1" {
			t.Errorf("%+v, %v", m, err)
		}
	}
}

// The base URL set for one provider must not get the key of another that the user
// switches to in the session.
func TestBaseURLIsForTheChosenProviderAlone(t *testing.T) {
	home(t, "")
	for model, want := range map[string]string{
		"openai/m": "https://openrouter.ai/api/v1", "": "https://openrouter.ai/api/v1", "openrouter/m": "http://127.0.0.1:9/v1",
	} {
		c := load(t, Overrides{"base_url": "http://127.0.0.1:9/v1", "model": model})
		m, err := c.Lookup("openrouter/x")
		if err != nil || m.Endpoint.BaseURL != want || m.Endpoint.APIKeyEnv != "OPENROUTER_API_KEY" {
			t.Errorf("chosen %q: %+v, %v", model, m, err)
		}
	}
	c := load(t, Overrides{"base_url": "http://127.0.0.1:9/v1"})
	if m, err := c.Lookup("ollama/x"); err != nil || m.Endpoint.BaseURL != "http://127.0.0.1:9/v1" {
		t.Errorf("a server without a key: %+v, %v", m, err)
	}
}

// The user's own provider with the name of a built-in one does not get the built-in
// one's key.
func TestOwnBaseURLDropsThePresetsKey(t *testing.T) {
	home(t, "providers:\n  openai:\n    base_url: http://elsewhere.example\n  openrouter:\n    context_window: 5\n")
	c := load(t, nil)
	if m, err := c.Lookup("openai/m"); err != nil || m.Endpoint.APIKeyEnv != "" {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err := c.Lookup("openrouter/m"); err != nil || m.Endpoint.APIKeyEnv != "OPENROUTER_API_KEY" || m.Options.ContextWindow != 5 {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestSecretEnv(t *testing.T) {
	home(t, providersFile)
	got := load(t, nil).SecretEnv()
	want := []string{"HALF_KEY"}
	for _, h := range Hosted {
		want = append(want, h.KeyEnv)
	}
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" || !slices.Contains(got, "OPENAI_API_KEY") {
		t.Error(d)
	}
}

func TestLocalsAreOnThisMachine(t *testing.T) {
	for _, l := range Locals {
		m, err := Config{}.Lookup(l.Name + "/m")
		if err != nil || !slices.Equal(m.Usual(), l.Addresses) {
			t.Errorf("%s: %q, %v", l.Name, m.Usual(), err)
		}
		for _, address := range l.Addresses {
			if u, err := url.Parse(address); err != nil || u.Hostname() != "127.0.0.1" {
				t.Errorf("%s is at %s", l.Name, address)
			}
		}
		m.Endpoint.BaseURL = "http://192.0.2.1/v1"
		if got := m.Usual(); len(got) != 1 {
			t.Errorf("%s, configured elsewhere: %q", l.Name, got)
		}
	}
}

// The known providers are found by their names, with their own keys.
func TestHosted(t *testing.T) {
	home(t, "")
	t.Setenv("OPENAI_BASE_URL", "")
	c := load(t, nil)
	for _, h := range Hosted {
		m, err := c.Lookup(h.Name + "/m")
		if err != nil || m.Endpoint.BaseURL != h.BaseURL || m.Endpoint.APIKeyEnv != h.KeyEnv || !strings.HasPrefix(h.BaseURL, "https://") {
			t.Errorf("%+v, %v", m, err)
		}
	}
	if len(Favourites("openai")) == 0 || Favourites("corp") != nil {
		t.Error("a favourite of nobody, or none")
	}
}

// Another model has the address of its own provider.
func TestWith(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "")
	for _, c := range []struct{ was, now, want string }{
		{"ollama/a", "ollama/b", "http://127.0.0.1:9/v1"},
		{"ollama/a", "openai/b", "https://api.openai.com/v1"},
		{"", "ollama/b", "http://127.0.0.1:9/v1"},
		{"script:x", "vllm/b", "http://127.0.0.1:8000/v1"},
	} {
		cfg := Config{Model: c.was, BaseURL: "http://127.0.0.1:9/v1"}
		m, err := cfg.With(c.now).Lookup(c.now)
		if err != nil || m.Endpoint.BaseURL != c.want || cfg.Model != c.was {
			t.Errorf("%+v: %+v, %v", c, m, err)
		}
	}
}

// The facts of hosted models complete the user's settings, at the provider's own address only.
func TestKnownModels(t *testing.T) {
	no := false
	for _, c := range []struct {
		name   string
		ref    string
		user   Provider
		window int64
		input  float64
		known  bool
	}{
		{"nothing is set", "anthropic/claude-opus-5", Provider{}, 1000000, 5, true},
		{"a dated name", "anthropic/claude-opus-5-20260401", Provider{}, 1000000, 5, true},
		{"the user's window", "anthropic/claude-opus-5", Provider{ContextWindow: 200000}, 200000, 5, true},
		{"the user's price", "anthropic/claude-opus-5", Provider{Models: map[string]ModelOptions{"claude-opus-5": {Input: 1}}}, 1000000, 1, true},
		{"the user's pictures", "anthropic/claude-opus-5", Provider{Models: map[string]ModelOptions{"claude-opus-5": {Images: &no}}}, 1000000, 5, true},
		{"another address", "anthropic/claude-opus-5", Provider{BaseURL: "https://proxy.example/v1"}, 0, 0, false},
		{"the address under another name", "corp/gpt-5.4", Provider{BaseURL: "https://api.openai.com/v1/", APIKeyEnv: "K"}, 1050000, 2.5, true},
		{"an unknown model", "anthropic/claude-unheard-of", Provider{}, 0, 0, false},
		{"a local server", "ollama/gpt-5.4", Provider{}, 0, 0, false},
	} {
		provider, _, err := Split(c.ref)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Config{Providers: map[string]Provider{provider: c.user}}.Lookup(c.ref)
		if err != nil {
			t.Fatal(err)
		}
		if o := m.Options; o.ContextWindow != c.window || o.Input != c.input || (o.Output > 0) != c.known && c.name != "the user's price" {
			t.Errorf("%s: %d tokens, $%v of input, $%v of output; want %d, %v, known: %v", c.name, o.ContextWindow, o.Input, o.Output, c.window, c.input, c.known)
		}
		if o := m.Options; c.known && (o.Images == nil || *o.Images == (c.name == "the user's pictures")) {
			t.Errorf("%s: pictures %v", c.name, o.Images)
		}
	}
}
