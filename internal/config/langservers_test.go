package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLanguageServers: one key switches all servers off or holds entries, the environment counts more, and a project sets none.
func TestLanguageServers(t *testing.T) {
	home(t, "model: a/b\nlanguage_servers:\n  gopls: {command: [gopls, -v], settings: {staticcheck: true}}\n  pyright: {disabled: true}\n  mine: {command: [~/mine], languages: {.foo: foo}, markers: [foo.toml]}\n")
	c := load(t, nil)
	want := map[string]LanguageServer{
		"gopls": {Command: []string{"gopls", "-v"}, Settings: map[string]any{"staticcheck": true}}, "pyright": {Disabled: true},
		"mine": {Command: []string{"~/mine"}, Languages: map[string]string{".foo": "foo"}, Markers: []string{"foo.toml"}},
	}
	if d := cmp.Diff(want, c.LanguageServers.Named); d != "" || c.LanguageServers.Mode != "auto" || c.Model != "a/b" {
		t.Errorf("%s, mode %q", d, c.LanguageServers.Mode)
	}
	t.Setenv("AGENT_LANGUAGE_SERVERS", "off")
	if c := load(t, nil); c.LanguageServers.Mode != "off" || len(c.LanguageServers.Named) != 3 {
		t.Errorf("%+v", c.LanguageServers)
	}
	t.Setenv("AGENT_LANGUAGE_SERVERS", "")
	c, left, err := LoadProject(nil, projectOf("language_servers:\n  gopls: {command: [./evil]}\n  evil: {command: [./evil], languages: {.go: go}}\n"))
	if d := cmp.Diff(want, c.LanguageServers.Named); d != "" || err != nil || !strings.Contains(strings.Join(left, "\n"), "a project cannot set language_servers") {
		t.Errorf("of a project: %s, %q, %v", d, left, err)
	}
	for text, want := range map[string]string{
		"language_servers: on":                              `"on" is not one of auto, off`,
		"language_servers: {gopls: off}":                    "want keys below it",
		"language_servers: {gopls: {comand: [x]}}":          `did you mean "language_servers.gopls.command"`,
		"language_servers: {a b: {disabled: true}}":         "a server's name has at most",
		"language_servers: {mine: {languages: {go: go}}}":   "languages has the ends of file names",
		"language_servers: {mine: {languages: {.d.ts: x}}}": "languages has the ends of file names",
		"language_servers: {mine: {command: mine}}":         "want a list",
	} {
		if _, err := parse("c.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestEditLanguageServers: an edit neither removes entries nor switches the servers on.
func TestEditLanguageServers(t *testing.T) {
	const entries = "language_servers:\n  gopls:\n    disabled: true\n"
	for _, c := range []struct{ file, key, value, want, fails string }{
		{"", "language_servers", "off", "language_servers: off\n", ""},
		{"", "language_servers.gopls.disabled", "true", entries, ""},
		{"language_servers: auto\n", "language_servers.gopls.disabled", "true", entries, ""},
		{entries, "language_servers.mine.languages..foo", "foo", entries + "  mine:\n    languages:\n      .foo: foo\n", ""},
		{entries, "language_servers.gopls.command", "[gopls, -v]", entries + "    command: [gopls, -v]\n", ""},
		{entries, "language_servers", "off", "", "has entries"},
		{"language_servers: off\n", "language_servers.gopls.disabled", "true", "", "is off"},
		{"", "language_servers.gopls", "off", "", "has keys below it"},
	} {
		got, err := Edit("c.yaml", []byte(c.file), c.key, c.value)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s %s: %v", c.key, c.value, err)
			}
			continue
		}
		if err != nil || string(got) != c.want {
			t.Errorf("%s %s: %q, %v", c.key, c.value, got, err)
		}
	}
	if got := Values("language_servers.gopls.disabled"); len(got) != 2 {
		t.Errorf("%q", got)
	}
}
