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
