package gitignore

import (
	"strings"
	"testing"
)

func TestMatchSegmentIsNotExponential(t *testing.T) {
	pattern := strings.Repeat("*a", 2000) + "b"
	if matchSegment(pattern, strings.Repeat("a", 5000)) {
		t.Error("matches")
	}
	stars := strings.Split(strings.Repeat("**/a/", 500)+"b", "/")
	if matchPath(stars, strings.Split(strings.Repeat("a/", 2000)+"a", "/")) {
		t.Error("matches")
	}
}

func TestMatchSegment(t *testing.T) {
	tests := []struct {
		pattern, name string
		want          bool
	}{
		{"[[:alpha:][:digit:]]", "7", true},
		{"[[:alpha:]]", "7", false},
		{"[[:punct:]]", "!", true},
		{"[[:punct:]]", "a", false},
		{"[[:space:]]x", "\tx", true},
		{"[[:cntrl:]]", "\x7f", true},
		{"[[:nothing:]]", "n", false},
		{"[[:xdigit:]]*", "fz", true},
		{"a*b*c", "axxbyyc", true},
		{"a*b*c", "axxbyy", false},
		{"*", "", true},
		{"?", "", false},
		{"[a", "a", false},
		{`\*`, "*", true},
		{`\`, `\`, false},
		{"[!a-c]", "d", true},
		{"[a-c-]", "-", true},
		{`[\]]`, "]", true},
	}
	for _, tt := range tests {
		if got := matchSegment(tt.pattern, tt.name); got != tt.want {
			t.Errorf("%q on %q: %v", tt.pattern, tt.name, got)
		}
	}
}
