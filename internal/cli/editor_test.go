package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/config"
)

func TestEditorCommand(t *testing.T) {
	for _, c := range []struct {
		setting, visual, editor string
		want                    []string
	}{
		{"code --wait", "vim", "nano", []string{"code", "--wait"}},
		{"", "vim", "nano", []string{"vim"}},
		{"", " ", "nano -w", []string{"nano", "-w"}},
		{"", "", "", []string{"vi"}},
	} {
		t.Setenv("VISUAL", c.visual)
		t.Setenv("EDITOR", c.editor)
		got := editorCommand(config.Config{Interface: config.Interface{Editor: c.setting}})
		if d := cmp.Diff(c.want, got); d != "" {
			t.Error(d)
		}
	}
}

// writeScript makes a program that stands in for an editor.
func writeScript(t *testing.T, body string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+body), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestExternalEditorGetsTextAndNoKey(t *testing.T) {
	t.Setenv("CORP_KEY", "canary")
	cfg := config.Config{
		Home:      t.TempDir(),
		Interface: config.Interface{Editor: writeScript(t, `{ cat "$1"; echo "${1##*/}"; env | grep -c canary; } > "$1.new"; mv "$1.new" "$1"`+"\n")},
		Providers: map[string]config.Provider{"corp": {APIKeyEnv: "CORP_KEY"}},
	}
	cmd, result, err := external(cfg, "pkg/main.go", "proposed\n")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := result()
	if err != nil || got != "proposed\nmain.go\n0\n" {
		t.Errorf("%q, %v", got, err)
	}
	left, err := os.ReadDir(filepath.Join(cfg.Home, "edit"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestExternalEditorThatIsNotThere(t *testing.T) {
	cfg := config.Config{Home: t.TempDir(), Interface: config.Interface{Editor: "no-such-editor"}}
	if _, _, err := external(cfg, "a", ""); err == nil || !strings.Contains(err.Error(), "set EDITOR") {
		t.Error(err)
	}
}

func TestExternalEditorThatDeletesTheFile(t *testing.T) {
	cfg := config.Config{Home: t.TempDir(), Interface: config.Interface{Editor: "rm"}}
	cmd, result, err := external(cfg, "a", "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := result(); err == nil {
		t.Error("no error")
	}
}
