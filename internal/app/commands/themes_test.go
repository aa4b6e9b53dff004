package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

func TestThemeIsKept(t *testing.T) {
	home := t.TempDir()
	t.Setenv("AGENT_HOME", home)
	r, err := themes{}.theme(t.Context(), "")
	if err != nil || r.Pick == nil || len(r.Pick.Items) != len(theme.Names()) {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, it := range r.Pick.Items {
		if it.ID != theme.Names()[i] || it.Theme != it.ID || it.Detail == "" {
			t.Errorf("%+v", it)
		}
	}
	r, err = r.Pick.Choose(t.Context(), "light")
	if err != nil || r.Theme != "light" {
		t.Errorf("%+v, %v", r, err)
	}
	if data, err := os.ReadFile(filepath.Join(home, "config.yaml")); err != nil || !strings.Contains(string(data), "theme: light") {
		t.Errorf("the configuration holds %q, %v", data, err)
	}
	for name, want := range map[string]string{"lihgt": "did you mean light?", "xyzzy": "the themes are auto, dark,"} {
		if r, err := (themes{}).theme(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) || r.Theme != "" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// A theme that cannot be saved is used all the same, with a remark.
func TestThemeThatCannotBeKept(t *testing.T) {
	t.Setenv("AGENT_HOME", filepath.Join(t.TempDir(), "file"))
	scratch.Write(t, os.Getenv("AGENT_HOME"), "")
	if r, err := (themes{}).theme(t.Context(), "dark"); err != nil || r.Theme != "dark" || !strings.Contains(r.Text, "saving it failed") {
		t.Errorf("%+v, %v", r, err)
	}
}
