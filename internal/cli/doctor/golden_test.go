package doctor

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/dev/golden"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// small answers like llama.cpp started with little context and without tools.
func small(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/v1/models":
		_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`) // the client may have gone
	case "/props":
		_, _ = io.WriteString(w, `{"default_generation_settings":{"n_ctx":4096}}`)
	case "/v1/chat/completions":
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, `{"error":{"message":"tools param requires --jinja flag"}}`)
	default:
		http.NotFound(w, r)
	}
}

// programs returns a folder that holds only programs with these names.
func programs(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		scratch.Program(t, filepath.Join(dir, name), "#!/bin/sh\n")
	}
	return dir
}

// The doctor's whole output: all well, a weak model, much broken.
func TestOutput(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths and the modes are others")
	}
	s := httptest.NewServer(http.HandlerFunc(small))
	t.Cleanup(s.Close)
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "vi")
	for _, c := range []struct {
		name     string
		programs []string
		model    string
		window   int64
		open     bool // others can read the home
		cfgErr   error
		linked   bool
		healthy  bool
	}{
		{name: "well", programs: []string{"bash", "rg", "vi"}, model: "script:SCRIPT", linked: true, healthy: true},
		{name: "weak", programs: []string{"bash"}, model: "llamacpp/m"},
		{name: "broken", model: "gone/m", open: true},
		{name: "unreadable", programs: []string{"bash", "rg", "vi"}, model: "script:SCRIPT", cfgErr: fmt.Errorf("config.yaml:2: unknown key \"modle\", did you mean \"model\"?")},
	} {
		for _, width := range []int{40, 80, 0} {
			t.Run(fmt.Sprintf("%s-%d", c.name, width), func(t *testing.T) {
				home, bin := t.TempDir(), programs(t, c.programs...)
				mode := os.FileMode(0o700)
				if c.open {
					mode = 0o755
				}
				if err := os.Chmod(home, mode); err != nil {
					t.Fatal(err)
				}
				t.Setenv("PATH", bin)
				scratch.SetHome(t, home)
				script := filepath.Join(home, "script.yaml")
				scratch.Write(t, script, "turns: [{text: hello}]")
				cfg := config.Config{
					Home: home, File: config.File(home), Model: strings.Replace(c.model, "SCRIPT", script, 1),
					Providers: map[string]config.Provider{"llamacpp": {BaseURL: s.URL + "/v1"}, "gone": {BaseURL: "http://127.0.0.1:1/v1"}},
				}
				var out strings.Builder
				healthy := Run(t.Context(), Options{
					Version: "v1", Stdin: in, Stdout: in, Out: &out, Width: width, Dir: t.TempDir(),
					Link: func(context.Context, config.Config) (string, bool) {
						if c.linked {
							return "Visual Studio Code", true
						}
						return "no editor was found", false
					},
				}, cfg, c.cfgErr)
				if healthy != c.healthy {
					t.Errorf("healthy: %v", healthy)
				}
				for line := range strings.Lines(out.String()) {
					if n := len([]rune(strings.TrimRight(line, "\n"))); width > 0 && n > width {
						t.Errorf("%d columns: %q", n, line)
					}
				}
				if width == 0 {
					compare(t, c.name, strings.NewReplacer(home, "HOME", bin, "BIN", s.URL, "http://SERVER").Replace(out.String()))
				} else {
					whole(t, out.String(), home)
				}
			})
		}
	}
}

// whole fails if wrapping lost a part of home.
func whole(t *testing.T, out, home string) {
	t.Helper()
	if !strings.Contains(strings.Join(strings.Fields(out), ""), strings.Join(strings.Fields(home), "")) {
		t.Errorf("no %s in\n%s", home, out)
	}
}

// compare compares the output with a golden file.
func compare(t *testing.T, name, got string) {
	t.Helper()
	got = regexp.MustCompile(`\d+ ms`).ReplaceAllString(got, "N ms")
	got = strings.Replace(got, runtime.GOOS+"/"+runtime.GOARCH, "SYSTEM", 1)
	golden.File(t, name, got)
}
