package input

import (
	"strings"
	"testing"
)

// An empty prompt shows the suggestion until the first submission, and Tab accepts it.
func TestSuggest(t *testing.T) {
	shown := func(e *Editor) bool {
		lines, _, _ := e.View(30, 5)
		return strings.Contains(strings.Join(lines, "\n"), "What is this")
	}
	for keys, c := range map[string]struct {
		text  string
		shown bool
	}{
		"":            {"", true},
		"tab":         {"What is this, and how is it tested?", true},
		"right":       {"What is this, and how is it tested?", true},
		"x":           {"x", false},
		"x backspace": {"", true},
		"left":        {"", true},
		"x tab":       {"x", false},
	} {
		e := New(Options{Suggest: "What is this, and how is it tested?"})
		press(e, keys)
		if e.Text() != c.text || shown(e) != c.shown {
			t.Errorf("%s: %q, shown: %v", keys, e.Text(), shown(e))
		}
	}
	if lines, _, _ := New(Options{Suggest: "What is this\x1b[2J?", NoColor: true}).View(30, 5); strings.Contains(lines[0], "\x1b") {
		t.Errorf("%q", lines)
	}
	e := New(Options{Suggest: "What is this?"})
	press(e, "x")
	e.Take()
	if shown(e) {
		t.Error("it is suggested after a prompt")
	}
}
