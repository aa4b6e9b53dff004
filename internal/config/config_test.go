package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/nearest"
)

// home creates a home with the given file and clears the environment variables that
// would change the configuration.
func home(t *testing.T, file string) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("AGENT_HOME", dir)
	for _, s := range scalars() {
		t.Setenv(EnvName(s.key), "")
	}
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL"} {
		t.Setenv(name, "")
	}
	if file != "" {
		scratch.Write(t, filepath.Join(dir, "config.yaml"), file)
	}
	return dir
}

func load(t *testing.T, flags Overrides) Config {
	t.Helper()
	c, err := Load(flags)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	dir := home(t, "")
	c := load(t, nil)
	want := Config{
		Home: dir, File: filepath.Join(dir, "config.yaml"), PermissionMode: "default", SafeCommands: "run",
		Limits: Limits{MaxTurns: 1000, CompactAt: 85, IdleTimeout: 2 * time.Minute},
		Shell:  Shell{Surface: "agent"},

		Sandbox:         Sandbox{Mode: "off", Network: true},
		Trial:           "auto",
		LanguageServers: LanguageServers{Mode: "auto"},
		IDE:             IDE{Enabled: true, AutoConnect: true, UseDiffs: true, Review: "diff", Foreign: "offer", Context: EditorContext{Place: "start", Diagnostics: true, OpenEditors: true, Selection: true}},
		Interface: Interface{
			Theme: "auto", Diff: "auto", Status: []string{"mode", "jobs", "model", "branch", "context", "editor", "cost"}, Title: true, Progress: true, Notify: "auto",
		}, UndoDays: 30, WebSearch: "auto", Review: ReviewEdit, Check: "off", Encoding: "iso-8859-1",
	}
	c.settings = nil
	if d := cmp.Diff(want, c, cmp.AllowUnexported(Config{})); d != "" {
		t.Error(d)
	}
}

func TestPrecedence(t *testing.T) {
	home(t, "max_turns: 3\npermission_mode: plan\nmodel: file/m\nide:\n  enabled: false\n")
	t.Setenv("AGENT_MAX_TURNS", "4")
	t.Setenv("AGENT_MODEL", "env/m")
	c := load(t, Overrides{"model": "flag/m"})
	if c.Model != "flag/m" || c.Limits.MaxTurns != 4 || c.PermissionMode != "plan" || c.IDE.Enabled || !c.IDE.AutoConnect {
		t.Errorf("%+v", c)
	}
	sources := map[string]string{}
	for _, s := range c.Settings() {
		sources[s.Key] = s.Source
	}
	for key, want := range map[string]string{
		"model": "flag", "max_turns": "AGENT_MAX_TURNS", "permission_mode": c.File + ":2", "ide.enabled": c.File + ":5", "editor": "default",
	} {
		if sources[key] != want {
			t.Errorf("%s comes from %q, want %q", key, sources[key], want)
		}
	}
}

// Every scalar can be set in each source, and the precedence is always the same.
func TestEveryKeyInEverySource(t *testing.T) {
	values := map[kind][3]string{
		text: {"a", "b", "c"}, address: {"http://a", "http://b", "http://c"}, boolean: {"false", "true", "false"},
		count: {"1", "2", "3"}, percent: {"1", "2", "3"}, number: {"1.5", "2.5", "3.5"}, duration: {"1s", "2s", "3s"},
		several: {"cost", "cost, mode", "none"}, folders: {filepath.Join(t.TempDir(), "a"), t.TempDir(), t.TempDir()},
	}
	for _, s := range scalars() {
		t.Run(s.key, func(t *testing.T) {
			v := values[s.kind]
			if s.kind == choice {
				v = [3]string{s.choices[0], s.choices[1], s.choices[0]}
			}
			file, err := Edit("config.yaml", nil, s.key, v[0])
			if err != nil {
				t.Fatal(err)
			}
			home(t, string(file))
			flags := Overrides{}
			for i, set := range []func(){func() {}, func() { t.Setenv(EnvName(s.key), v[1]) }, func() { flags[s.key] = v[2] }} {
				set()
				for _, got := range load(t, flags).Settings() {
					if got.Key == s.key && got.Value != v[i] {
						t.Errorf("source %d: %q, want %q", i, got.Value, v[i])
					}
				}
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"unknown", "model: a/b\nmodle: x\n", `config.yaml:2: unknown key "modle", did you mean "model"?`},
		{"unknown below", "ide:\n  autoconnect: true\n", `:2: unknown key "ide.autoconnect", did you mean "ide.auto_connect"?`},
		{"unknown in provider", "providers:\n  x:\n    baseurl: http://a\n", `:3: unknown key "providers.x.baseurl", did you mean "providers.x.base_url"?`},
		{"extra is no object", "providers:\n  x:\n    models:\n      m:\n        extra: 5\n", `:5: providers.x.models.m.extra: want keys with values`},
		{"extra is no JSON", "providers:\n  x:\n    models:\n      m:\n        extra: {a: {1: 2}}\n", `:5: providers.x.models.m.extra: this cannot be sent as JSON`},
		{"unknown wire", "providers:\n  x:\n    wire: grpc\n", `:3: providers.x.wire: "grpc" is not one of chat, responses, anthropic`},
		{"unknown in model", "providers:\n  x:\n    models:\n      gpt-4.1:\n        price: 1\n", `:5: unknown key "providers.x.models.gpt-4.1.price"`},
		{"nothing near", "zzzzzz: 1\n", `:1: unknown key "zzzzzz"; known are base_url, check, check_first, compact_at, editor,`},
		{"twice", "permission_mode: plan\npermission_mode: bypass\n", "permission_mode"},
		{"wrong type", "max_turns: many\n", `:1: max_turns: "many" is not a whole number`},
		{"negative", "max_cost_usd: -1\n", "max_cost_usd"},
		{"more than all", "compact_at: 120\n", "0 to 100"},
		{"mapping wanted", "ide: true\n", "ide: want keys below it"},
		{"value wanted", "model: [a]\n", "model: want a single value"},
		{"several", "interface:\n  status: mode, color\n", `"mode, color" is neither none nor a list of mode, jobs, model`},
		{"choice", "permission_mode: blue\n", `"blue" is not one of default, accept-edits, plan, bypass`},
		{"bool", "ide:\n  enabled: yes please\n", "neither true nor false"},
		{"address", "base_url: file:///etc\n", "not an http"},
		{"list", "providers:\n  x:\n    api_key_command: pass show\n", "want a list"},
		{"folders", "sandbox_write: [" + filepath.ToSlash(scratch.Abs("/a")) + ", b]\n", `:1: sandbox_write: "b" is not an absolute folder`},
		{"folders below", "sandbox_write: {a: b}\n", "want a list"},
		{"alias", "model: &a x/y\neditor: *a\n", "aliases"},
		{"two documents", "model: a/b\n---\nmodel: c/d\n", "more than one document"},
		{"no mapping", "- a\n", "key: value"},
		{"no yaml", "a: b: c\n", "config.yaml:1: mapping values are not allowed"},
		{"no yaml below", "model: a/b\nide: [a\n", "config.yaml:2: did not find"},
		{"no key", "model: a/b\nide:\n  review: off\n context: 1\n", "config.yaml:4: did not find expected key"},
		{"tab", "\tmodel: a/b\n", "config.yaml:1: this is not YAML: indent with blanks"},
		{"anchor", "model: a/b\neditor: *a\n", "config.yaml: yaml: unknown anchor"},
		{"control character", "model: a/b\neditor: \x01\n", "config.yaml: yaml: control characters"},
		{"no UTF-8", "model: a/b\neditor: \xff\n", "config.yaml: yaml: invalid"},
		{"case", "Model: a/b\n", `did you mean "model"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			home(t, c.file)
			_, err := Load(nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestFolders(t *testing.T) {
	dir := home(t, "sandbox_write: [~/a/, "+filepath.ToSlash(scratch.Abs("/b/../c"))+"]\n")
	user, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	c := load(t, nil)
	if want := []string{filepath.Join(user, "a"), scratch.Abs("/c")}; !cmp.Equal(want, c.Sandbox.Write) {
		t.Errorf("%q in %s, want %q", c.Sandbox.Write, dir, want)
	}
	t.Setenv("AGENT_SANDBOX_WRITE", "~/x"+string(filepath.ListSeparator)+filepath.Join(user, "y"))
	if want := []string{filepath.Join(user, "x"), filepath.Join(user, "y")}; !cmp.Equal(want, load(t, nil).Sandbox.Write) {
		t.Errorf("%q from the environment, want %q", load(t, nil).Sandbox.Write, want)
	}
}

func TestEmptyValuesAreNotSet(t *testing.T) {
	for _, file := range []string{"", "# only a comment\n", "permission_mode:\n", "ide:\n", "providers:\n", "~\n"} {
		home(t, file)
		if c := load(t, nil); c.PermissionMode != "default" {
			t.Errorf("%q: mode %q", file, c.PermissionMode)
		}
	}
}

func TestWrongEnvironmentAndFlags(t *testing.T) {
	home(t, "")
	if _, err := Load(Overrides{"permission_mode": "yolo"}); err == nil || !strings.Contains(err.Error(), "--permission-mode") {
		t.Errorf("flag: %v", err)
	}
	t.Setenv("AGENT_IDLE_TIMEOUT", "soon")
	if _, err := Load(nil); err == nil || !strings.Contains(err.Error(), "AGENT_IDLE_TIMEOUT") {
		t.Errorf("environment: %v", err)
	}
}

func TestUnreadableFileIsAnError(t *testing.T) {
	dir := home(t, "")
	if err := os.Mkdir(filepath.Join(dir, "config.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(nil); err == nil {
		t.Error("no error")
	}
}

func TestHome(t *testing.T) {
	t.Setenv("AGENT_HOME", "relative")
	dir, err := Home()
	if err != nil || !filepath.IsAbs(dir) {
		t.Errorf("%q, %v", dir, err)
	}
	t.Setenv("AGENT_HOME", "")
	scratch.SetHome(t, "/somewhere")
	if dir, err = Home(); err != nil || dir != filepath.FromSlash("/somewhere/.agent") {
		t.Errorf("%q, %v", dir, err)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"model", "base_url", "max_turns", "permission_mode"}
	for in, want := range map[string]string{
		"modle": "model", "MODEL": "model", "baseurl": "base_url", "maxturns": "max_turns", "permission_modes": "permission_mode", "xyz": "",
	} {
		if got := nearest.Name(in, known); got != want {
			t.Errorf("nearest.Name(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSeveral(t *testing.T) {
	for file, want := range map[string][]string{
		"":                                   {"mode", "jobs", "model", "branch", "context", "editor", "cost"},
		"interface:\n  status: cost ,mode\n": {"cost", "mode"},
		"interface:\n  status: none\n":       nil,
	} {
		home(t, file)
		if d := cmp.Diff(want, load(t, nil).Interface.Status); d != "" {
			t.Errorf("%q: %s", file, d)
		}
	}
}

// TestRenamed reads keys by their old names.
func TestRenamed(t *testing.T) {
	home(t, "# mine\nmodel: a/b\nmax_tokens: 7\n")
	c, err := Load(nil)
	if err != nil || c.Limits.MaxTokens != 7 || c.Model != "a/b" {
		t.Fatalf("%+v, %v", c.Limits, err)
	}
	want := []string{c.File + ":3: max_tokens is now called max_session_tokens: rename it"}
	if d := cmp.Diff(want, c.Notes); d != "" {
		t.Error(d)
	}
	t.Setenv("AGENT_MAX_TOKENS", "8")
	want = append(want, "AGENT_MAX_TOKENS is now called AGENT_MAX_SESSION_TOKENS: set that instead")
	if c, err = Load(nil); err != nil || c.Limits.MaxTokens != 8 || !cmp.Equal(want, c.Notes) {
		t.Errorf("%+v, %q, %v", c.Limits, c.Notes, err)
	}
	t.Setenv("AGENT_MAX_SESSION_TOKENS", "9")
	if c, err = Load(nil); err != nil || c.Limits.MaxTokens != 9 || len(c.Notes) != 1 {
		t.Errorf("%+v, %q, %v", c.Limits, c.Notes, err)
	}
	home(t, "max_tokens: 7\nmax_session_tokens: 8\n")
	if _, err := Load(nil); err == nil || !strings.Contains(err.Error(), `:2: duplicate key "max_session_tokens"`) {
		t.Error(err)
	}
	if _, err := Edit("f", nil, "max_tokens", "5"); err == nil || !strings.Contains(err.Error(), "max_tokens is now called max_session_tokens") {
		t.Error(err)
	}
	p := projectOf("max_tokens: 5\n")
	if counts, left, err := p.Allowed(); err != nil || len(left) > 0 || !cmp.Equal(counts, []string{"max_session_tokens: 5"}) {
		t.Errorf("%q, %q, %v", counts, left, err)
	}
}
