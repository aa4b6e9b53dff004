// Package initenv hides TMUX from the environment while other packages initialise,
// because Lip Gloss runs "tmux info" there, from PATH and with the whole environment.
//
// It guarantees that it initialises first: of the packages whose imports are ready, Go
// initialises the one whose path sorts first. This package imports fmt and os, which
// github.com/charmbracelet/colorprofile imports as well, and its path sorts before that
// one; Lip Gloss imports colorprofile. TestNoTmuxIsStarted in cmd/agent holds it.
package initenv

import (
	"fmt"
	"os"
)

const name = "TMUX"

var hidden, found = hide()

func hide() (value string, ok bool) {
	if value, ok = os.LookupEnv(name); ok {
		ok = os.Unsetenv(name) == nil
	}
	return value, ok
}

// Restore puts the environment back as it was when the program started. Main calls
// it first.
func Restore() error {
	if !found {
		return nil
	}
	if err := os.Setenv(name, hidden); err != nil {
		return fmt.Errorf("restore %s: %w", name, err)
	}
	return nil
}
