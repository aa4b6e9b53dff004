package sanitize_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
	"unicode"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

var update = flag.Bool("update", false, "write the list for the extension")

// shared is the list that the extension for VS Code is built with: the first and the
// last character of each range.
const shared = "../../editors/vscode/src/core/hidden.json"

// TestTheExtensionHasTheSameList: of all code points.
func TestTheExtensionHasTheSameList(t *testing.T) {
	want, err := json.Marshal(map[string][]rune{"hidden": ranges(sanitize.IsHidden), "blanks": ranges(sanitize.IsOddSpace)})
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile(shared, want, 0o644); err != nil { //nolint:gosec // a source file
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(shared)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not the list of this package (%v): go test -run TheSameList ./internal/sanitize -update", shared, err)
	}
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
