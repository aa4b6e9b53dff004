package catalog

import (
	"regexp"
	"strings"
	"testing"
)

// TestTable reads every row, as Models does.
func TestTable(t *testing.T) {
	if len(table) > 64<<10 {
		t.Errorf("the table has %d bytes", len(table))
	}
	if !regexp.MustCompile(`^20\d\d-\d\d-\d\d$`).MatchString(Date()) {
		t.Errorf("date %q", Date())
	}
	providers, rows := 0, 0
	for line := range strings.Lines(table) {
		switch name, isProvider := strings.CutPrefix(line, "provider\t"); {
		case isProvider:
			providers++
			for _, m := range Models(strings.TrimSpace(name)) {
				rows++
				if m.Name == "" || m.Window < 1000 || m.Input < 0 || m.Output < m.Input && m.Output > 0 || m.Cached > m.Input || m.Written != 0 && m.Written < m.Input {
					t.Errorf("%s: %+v", strings.TrimSpace(name), m)
				}
			}
		case strings.HasPrefix(line, "#") || strings.HasPrefix(line, "date\t"):
		case strings.Count(line, "\t") != 7:
			t.Errorf("%q", line)
		default:
			rows--
		}
	}
	if providers < 8 || rows != 0 {
		t.Errorf("%d providers, %d rows are missing", providers, -rows)
	}
}

// A model is known by its own name and by those of its versions, and by no other.
func TestFind(t *testing.T) {
	for _, c := range []struct{ provider, name, want string }{
		{"anthropic", "claude-opus-4-5-20251101", "claude-opus-4-5-20251101"},
		{"anthropic", "claude-opus-4-5", "claude-opus-4-5-20251101"},
		{"anthropic", "claude-opus-5-20260401", "claude-opus-5"},
		{"anthropic", "claude-opus", ""},
		{"anthropic", "claude-opus-9", ""},
		{"openai", "gpt-5.4", "gpt-5.4"},
		{"openai", "gpt-5.4-2026-03-05", "gpt-5.4"},
		{"openai", "gpt-5.4-huge", ""},
		{"gemini", "models/gemini-4-argon", "gemini-4-argon"},
		{"mistral", "mistral-medium-latest", "mistral-medium-3-5"},
		{"mistral", "mistral-large-latest", "mistral-large-4-0"},
		{"mistral", "mistral-medium-3-6", ""},
		{"openai", "gpt-latest", ""},
		{"mistral", "codestral-latest", "codestral-2508"},
		{"mistral", "codestral-2501", ""}, // another version, which may cost something else
		{"openrouter", "anthropic/claude-sonnet-4.6", "anthropic/claude-sonnet-4.6"},
		{"openrouter", "anthropic/claude-sonnet-4.6:free", ""},
		{"together", "x", ""},
		{"openai", "", ""},
	} {
		m, ok := Find(c.provider, c.name)
		if !ok {
			m.Name = ""
		}
		if m.Name != c.want {
			t.Errorf("%s/%s is known as %q, want %q", c.provider, c.name, m.Name, c.want)
		}
	}
}
