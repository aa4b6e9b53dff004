package remote

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// TestToolsAreEncodedOnce: unless they, or the form, are others.
func TestToolsAreEncodedOnce(t *testing.T) {
	var tools Tools
	encoded := 0
	encode := func(form string, names ...string) string {
		t.Helper()
		var specs []llm.ToolSpec
		for _, name := range names {
			specs = append(specs, llm.ToolSpec{Name: name, Schema: json.RawMessage(`{}`)})
		}
		data, err := tools.Encode(specs, form, func() any {
			encoded++
			return append(names, form)
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, step := range []struct {
		form  string
		names []string
		want  string
		count int
	}{
		{"", nil, "", 0},
		{"f", []string{"a", "b"}, `["a","b","f"]`, 1},
		{"f", []string{"a", "b"}, `["a","b","f"]`, 1},
		{"g", []string{"a", "b"}, `["a","b","g"]`, 2},
		{"g", []string{"a"}, `["a","g"]`, 3},
		{"g", nil, "", 3},
		{"g", []string{"a"}, `["a","g"]`, 4},
	} {
		if got := encode(step.form, step.names...); got != step.want || encoded != step.count {
			t.Errorf("%+v: %q, encoded %d times", step, got, encoded)
		}
	}
}

// TestExtraToolsReplaceOurs: the person's extra fields are over ours, and null leaves one
// out.
func TestExtraToolsReplaceOurs(t *testing.T) {
	for _, tt := range []struct {
		name  string
		extra map[string]any
		want  string
	}{
		{"ours", nil, `"tools":["ours"]`},
		{"another field", map[string]any{"x": 1}, `"tools":["ours"]`},
		{"theirs", map[string]any{"tools": []string{"theirs"}}, `"tools":["theirs"]`},
		{"none", map[string]any{"tools": nil}, ""},
	} {
		head, err := Head(map[string]any{"model": "m"}, tt.extra, []byte(`["ours"]`), "messages")
		if err != nil {
			t.Fatal(err)
		}
		body := string(head) + "]}"
		if !json.Valid([]byte(body)) || !strings.Contains(body, tt.want) || strings.Count(body, `"tools"`) != min(1, len(tt.want)) {
			t.Errorf("%s: %s", tt.name, body)
		}
	}
}
