package commands

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/mcp"
)

// Arguments come by name or in their order; the last one takes the rest of the line.
func TestArguments(t *testing.T) {
	p := mcp.Prompt{Server: "t", Typed: "p", Args: []mcp.Argument{{Name: "code", Help: "the code", Required: true}, {Name: "style"}}}
	for line, want := range map[string]map[string]string{
		"a.go":                   {"code": "a.go"},
		"a.go  terse and kind":   {"code": "a.go", "style": "terse and kind"},
		"style=kind a.go and b":  {"code": "a.go and b", "style": "kind"},
		"code=x=y":               {"code": "x=y"},
		"other=1 kind":           {"code": "other=1", "style": "kind"},
		"code=a.go style=kind":   {"code": "a.go", "style": "kind"},
		"style=kind code=b more": nil,
		"code=a code=b":          nil,
		"style=kind":             nil,
		"code=":                  nil,
		"":                       nil,
	} {
		got, err := arguments(p, line)
		if (err != nil) != (want == nil) || err == nil && !cmp.Equal(got, want) {
			t.Errorf("%q: %v, %v", line, got, err)
		}
	}
	if _, err := arguments(p, ""); err == nil || err.Error() != "code is missing (the code): /t:p takes <code> [style]" {
		t.Error(err)
	}
	if _, err := arguments(mcp.Prompt{Server: "t", Typed: "p"}, "x"); err == nil || err.Error() != `"x" is too much: /t:p takes no arguments` {
		t.Error(err)
	}
}
