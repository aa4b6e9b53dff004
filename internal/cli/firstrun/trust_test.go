package firstrun

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// Describe lists each part of a project as used or left out, with the reason.
func TestDescribe(t *testing.T) {
	for name, c := range map[string]struct {
		found trust.Found
		want  []string
		not   []string
	}{
		"all":              {trust.Found{Config: []byte("encoding: big5\neditor: vi\n"), Command: []string{"git/x.md"}}, []string{"  encoding: big5", "left out: line 2: a project cannot set editor", "  git/x.md"}, nil},
		"commands alone":   {trust.Found{Command: []string{"x.md"}}, []string{"  x.md"}, []string{trust.ConfigFile}},
		"an empty file":    {trust.Found{Config: []byte("# none\n")}, []string{"  nothing"}, []string{trust.Commands}},
		"one that is none": {trust.Found{Config: []byte("a: [")}, []string{"  nothing: .agent/config.yaml"}, nil},
		"a script":         {trust.Found{Config: []byte("model: script:x")}, []string{"a project cannot choose a script"}, []string{"  model:"}},
	} {
		got := strings.Join(Describe(c.found), "\n")
		for _, want := range append(c.want, "edits and commands still need your yes") {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", name, want, got)
			}
		}
		for _, not := range c.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %q in\n%s", name, not, got)
			}
		}
	}
}

// The first prompt that is suggested fits the folder.
func TestSuggestion(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"What does this project do, and how is it tested?":         {"go.mod": "module x"},
		"Write a small command-line to-do list here, with a test.": {},
		"What is in this folder?":                                  {"letter.txt": "Dear all"},
	} {
		if got := Suggestion(scratch.Dir(t, files)); got != want {
			t.Errorf("%v: %q, want %q", files, got, want)
		}
	}
}
