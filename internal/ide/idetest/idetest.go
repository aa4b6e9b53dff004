// Package idetest is an editor for tests: a real WebSocket server on 127.0.0.1
// that speaks like one of the editors in use, or like a hostile one, and does
// what the test tells it. Only tests import it.
package idetest

import (
	"encoding/json"
	"testing"
)

// Editor is a running editor.
type Editor struct {
	Port  int
	Token string
	// Shown delivers every diff that was opened.
	Shown chan *Diff
}

// Start starts an editor that speaks d; it ends with the test.
func Start(tb testing.TB, d Dialect) *Editor { return nil }

// Dialect is how an editor speaks: see Ours, Neovim, Emacs, Nexus3, JetBrains.
type Dialect struct{ Name string }

// Diff is a review that is open in the editor.
type Diff struct {
	Path, Text, Tab, ID string
	Args                json.RawMessage // all of the request
}
