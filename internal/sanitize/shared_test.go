package sanitize_test

import (
	"encoding/json"
	"testing"
	"unicode"

	"github.com/bb2d0cf4/agent/internal/dev/golden"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// shared is the list that the extension for VS Code is built with: the first and last
// character of each range.
const shared = "../../editors/vscode/src/core/hidden.json"

// TestTheExtensionHasTheSameList compares all code points.
func TestTheExtensionHasTheSameList(t *testing.T) {
	list, err := json.Marshal(map[string][]rune{"hidden": ranges(sanitize.IsHidden), "blanks": ranges(sanitize.IsOddSpace)})
	if err != nil {
		t.Fatal(err)
	}
	golden.Source(t, shared, append(list, '\n'))
}

func ranges(in func(rune) bool) []rune {
	var out []rune
	for r := rune(0); r <= unicode.MaxRune; r++ {
		switch n := len(out); {
		case !in(r):
		case n > 0 && out[n-1] == r-1:
			out[n-1] = r
		default:
			out = append(out, r, r)
		}
	}
	return out
}
