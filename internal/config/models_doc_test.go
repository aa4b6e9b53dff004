package config

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The table in docs/models.md has every built-in provider with its key and wire.
func TestModelsDocumentation(t *testing.T) {
	data, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	type row struct{ key, wire string }
	documented := map[string]row{}
	for _, m := range regexp.MustCompile("(?m)^\\| ((?:`[a-z]+`(?:, )?)+) \\| (`[A-Z_]+`|none) \\| `([a-z]+)` \\|$").FindAllStringSubmatch(string(data), -1) {
		for name := range strings.SplitSeq(m[1], ", ") {
			documented[strings.Trim(name, "`")] = row{strings.Replace(strings.Trim(m[2], "`"), "none", "", 1), m[3]}
		}
	}
	want := map[string]row{}
	for name, p := range builtin() {
		want[name] = row{p.APIKeyEnv, Model{Endpoint: p}.Wire()}
	}
	if d := cmp.Diff(want, documented, cmp.AllowUnexported(row{})); d != "" {
		t.Errorf("docs/models.md (-code +documentation):\n%s", d)
	}
}

func TestCacheMarkers(t *testing.T) {
	router, yes, no := Provider{BaseURL: "https://openrouter.ai/api/v1"}, true, false
	for name, c := range map[string]struct {
		m    Model
		want bool
	}{
		"Claude at OpenRouter":  {Model{Name: "anthropic/claude-sonnet-4.5", Endpoint: router}, true},
		"another model there":   {Model{Name: "openai/gpt-5.1", Endpoint: router}, false},
		"Claude elsewhere":      {Model{Name: "claude-sonnet-4-5", Endpoint: Provider{BaseURL: "https://proxy.example/v1"}}, false},
		"as configured":         {Model{Name: "qwen/qwen3-max", Endpoint: router, Options: ModelOptions{CacheMarkers: &yes}}, true},
		"not, as is configured": {Model{Name: "anthropic/claude-sonnet-4.5", Endpoint: router, Options: ModelOptions{CacheMarkers: &no}}, false},
	} {
		if got := c.m.CacheMarkers(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWire(t *testing.T) {
	for name, c := range map[string]struct {
		m    Model
		want string
	}{
		"OpenAI":       {Model{Endpoint: Provider{BaseURL: "https://api.openai.com/v1"}}, WireResponses},
		"Anthropic":    {Model{Endpoint: Provider{BaseURL: "https://api.anthropic.com/v1"}}, WireAnthropic},
		"elsewhere":    {Model{Endpoint: Provider{BaseURL: "https://api.openai.com.example/v1"}}, WireChat},
		"the provider": {Model{Endpoint: Provider{BaseURL: "https://api.openai.com/v1", Wire: WireChat}}, WireChat},
		"the model":    {Model{Endpoint: Provider{Wire: WireChat}, Options: ModelOptions{Wire: WireAnthropic}}, WireAnthropic},
	} {
		if got := c.m.Wire(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
