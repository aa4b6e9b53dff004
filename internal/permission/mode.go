package permission

import (
	"fmt"
	"strings"
)

// Mode says how much is asked. The zero value asks about everything.
type Mode int

// The modes, from the one that users start in.
const (
	Default     Mode = iota // everything asks, except what was granted
	AcceptEdits             // edits are approved, except those that force a review
	Plan                    // edits and commands are declined: the model only plans
	Bypass                  // everything is approved
)

// names holds the modes' names in the order of their values.
var names = [...]string{"default", "accept-edits", "plan", "bypass"}

// ParseMode returns the mode that String names. The error names all modes.
func ParseMode(name string) (Mode, error) {
	for i, n := range names {
		if n == name {
			return Mode(i), nil
		}
	}
	return Default, fmt.Errorf("unknown permission mode %q: use one of %s", name, strings.Join(names[:], ", "))
}

// String returns the name of m as users write it.
func (m Mode) String() string {
	if m < 0 || int(m) >= len(names) {
		return fmt.Sprintf("mode %d", int(m))
	}
	return names[m]
}

// next returns the mode that follows m when the user steps through them.
func (m Mode) next(bypass bool) Mode {
	switch m {
	case Default:
		return AcceptEdits
	case AcceptEdits:
		return Plan
	case Plan:
		if bypass {
			return Bypass
		}
	}
	return Default
}
