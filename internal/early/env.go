package early

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

// RestoreEnv restores the environment in which the program started. Main calls it first.
func RestoreEnv() error {
	var errs []error
	for _, v := range hidden {
		if err := os.Setenv(v.name, v.value); err != nil {
			errs = append(errs, fmt.Errorf("restore %s: %w", v.name, err))
		}
	}
	return errors.Join(errs...)
}
