package config

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

func TestEdit(t *testing.T) {
	for _, c := range []struct{ name, file, key, value, want string }{
		{"empty file", "", "model", "openai/x", "model: openai/x\n"},
		{"unknown provider", "", "model", "nowhere/x", "model: nowhere/x\n"},
		{"no model", "model: openai/x\n", "model", "", "model: \"\"\n"},
		{"comments stay", "# mine\nmodel: a/b # why\n\n# look\npermission_mode: plan\n", "model", "c/d", "# mine\nmodel: c/d # why\n\n# look\npermission_mode: plan\n"},
		{"appended", "model: a/b\n", "max_turns", "7", "model: a/b\nmax_turns: 7\n"},
		{"below, new", "model: a/b\n", "ide.enabled", "false", "model: a/b\nide:\n  enabled: false\n"},
		{"below, there", "ide:\n  enabled: true # yes\n  foreign: auto\n", "ide.enabled", "false", "ide:\n  enabled: false # yes\n  foreign: auto\n"},
		{"below nothing", "ide:\n", "ide.enabled", "false", "ide:\n  enabled: false\n"},
		{"provider", "", "providers.Corp.base_url", "http://a", "providers:\n  Corp:\n    base_url: http://a\n"},
		{"model with dots", "", "providers.x.models.gpt-4.1.price_input", "2.5", "providers:\n  x:\n    models:\n      gpt-4.1:\n        price_input: 2.5\n"},
		{"header with dots", "", "providers.x.headers.X.Y", "z", "providers:\n  x:\n    headers:\n      X.Y: z\n"},
		{"list", "", "providers.x.api_key_command", "[pass, show, x]", "providers:\n  x:\n    api_key_command: [pass, show, x]\n"},
		{"text like a number", "", "editor", "12", "editor: \"12\"\n"},
		{"only a comment", "# mine\n", "permission_mode", "plan", "# mine\npermission_mode: plan\n"},
		{"no newline at the end", "model: a/b", "permission_mode", "plan", "model: a/b\npermission_mode: plan\n"},
		{"quoted", "model: 'a/b' # x\n\npermission_mode: plan\n", "model", "c/d", "model: c/d # x\n\npermission_mode: plan\n"},
		{"flow", "{permission_mode: plan}\n", "model", "c/d", "{permission_mode: plan, model: c/d}\n"},
		{"a quote in quotes", "editor: ''''\n", "editor", "vi", "editor: vi\n"},
		{"a quote at both ends", "editor: \"'x'\" # x\n\npermission_mode: plan\n", "editor", "vi", "editor: vi # x\n\npermission_mode: plan\n"},
		{"a column in letters", "ide: {foreign: \"offer\", lock_dir: äö}\n", "ide.lock_dir", "x", "ide: {foreign: \"offer\", lock_dir: x}\n"},
		{"a value on two lines", "editor: a\n  b\npermission_mode: plan\n", "editor", "vi", "editor: vi\npermission_mode: plan\n"},
		{"several lines", "editor: |\n  a\n  b\npermission_mode: plan\n", "editor", "vi", "editor: vi\npermission_mode: plan\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Edit("config.yaml", []byte(c.file), c.key, c.value)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, string(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestEditRefuses(t *testing.T) {
	for _, c := range []struct{ name, file, key, value, want string }{
		{"unknown", "", "modle", "x", `did you mean "model"`},
		{"unknown below", "", "ide.enabeld", "x", `did you mean "ide.enabled"`},
		{"group", "", "ide", "x", "has keys below it"},
		{"provider alone", "", "providers.x", "x", "has keys below it"},
		{"below a value", "", "model.x", "x", "single value"},
		{"wrong value", "", "max_turns", "x", "whole number"},
		{"no provider", "", "model", "nonsense", `model: the model "nonsense" has no provider: write provider/name`},
		{"a key for its name", "", "providers.x.api_key_env", "sk-canary", "not the key itself"},
		{"wrong list", "", "providers.x.api_key_command", "pass show", "want a list"},
		{"bad file", "modle: x\n", "permission_mode", "plan", "config.yaml:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Edit("config.yaml", []byte(c.file), c.key, c.value)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the error repeats the key: %v", err)
			}
		})
	}
}

// A value written with escapes cannot be cut out of the text: taking its first quote
// for the whole value once broke the file.
func TestEditReplacesAQuote(t *testing.T) {
	data := []byte("# head\nide:\n  enabled: true\n")
	for _, value := range []string{"'", "", "''", `"`, `\`, "#", "a: b"} {
		out, err := Edit("c", data, "editor", value)
		if err != nil {
			t.Fatalf("%q: %v", value, err)
		}
		data = out
	}
}

// Whatever the value, Edit sets exactly it and keeps the rest.
func TestEditRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.String().Draw(t, "first")
		second := rapid.String().Draw(t, "second")
		if !printable(first) || !printable(second) {
			t.Skip()
		}
		data := []byte("# head\nide:\n  enabled: true\n")
		for _, value := range []string{first, second} {
			out, err := Edit("c", data, "editor", value)
			if err != nil {
				t.Fatal(err)
			}
			var raw struct {
				Editor string
				IDE    struct{ Enabled bool } `yaml:"ide"`
			}
			if err := yaml.Unmarshal(out, &raw); err != nil || raw.Editor != value || !raw.IDE.Enabled {
				t.Fatalf("%q: %v, %+v in\n%s", value, err, raw, out)
			}
			data = out
		}
	})
}

func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
