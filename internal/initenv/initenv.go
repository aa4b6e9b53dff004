// Package initenv hides TERM and TMUX from the environment while other packages
// initialize, because Lip Gloss examines the terminal there: it runs "tmux info" from
// PATH with the whole environment, reads terminfo files and looks up the user.
//
// It guarantees that it initializes first. Among the packages whose imports are ready,
// Go initializes the one whose path sorts first. This package imports errors, fmt and
// os, all of which github.com/charmbracelet/colorprofile needs, and its path sorts
// before that one; Lip Gloss imports colorprofile. TestNoTmuxIsStarted in cmd/agent
// checks this.
package initenv

import (
	"errors"
	"fmt"
	"os"
)

// variable is a hidden variable.
type variable struct{ name, value string }

var hidden = hide("TERM", "TMUX")

func hide(names ...string) (list []variable) {
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok && os.Unsetenv(name) == nil {
			list = append(list, variable{name, value})
		}
	}
	return list
}

// Restore restores the environment in which the program started. Main calls it first.
func Restore() error {
	var errs []error
	for _, v := range hidden {
		if err := os.Setenv(v.name, v.value); err != nil {
			errs = append(errs, fmt.Errorf("restore %s: %w", v.name, err))
		}
	}
	return errors.Join(errs...)
}
