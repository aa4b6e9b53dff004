package frontmatter

import (
	"errors"
	"testing"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string]struct {
		matter, body string
		err          error
	}{
		"---\na: b\n---\ntext\n":               {"\na: b", "text\n", nil},
		"\ufeff---\r\na: b\r\n---\r\ntext\r\n": {"\na: b", "text\n", nil},
		"---\na: b\n---":                       {"\na: b", "", nil},
		"---\n---\ntext":                       {"", "text", nil},
		"---\na: b\n---\n---\ntext":            {"\na: b", "---\ntext", nil},
		"---\na: b\ntext":                      {"", "", ErrOpen},
		"text\n---\n":                          {"", "", ErrMissing},
		"":                                     {"", "", ErrMissing},
	} {
		if matter, body, err := Split(text); matter != want.matter || body != want.body || !errors.Is(err, want.err) {
			t.Errorf("%q: %q, %q, %v", text, matter, body, err)
		}
	}
}
