package permission

import (
	"fmt"
	"strings"
)

// Mode determines which requests are asked about. The zero value asks about all.
type Mode int

// The modes. Users start in the first.
const (
	Default     Mode = iota // asks about everything that was not granted, except commands that only read
	AcceptEdits             // edits are approved, except those that force a review
	Plan                    // edits and commands are declined, except commands that only read; the model only plans
	Bypass                  // everything is approved
)

// names holds the modes' names in the order of their values.
var names = [...]string{"default", "accept-edits", "plan", "bypass"}

// ParseMode returns the mode with the given name. The error lists all modes.
func ParseMode(name string) (Mode, error) {
	for i, n := range names {
		if n == name {
			return Mode(i), nil
		}
	}
	return Default, fmt.Errorf("unknown permission mode %q: use one of %s", name, strings.Join(names[:], ", "))
}

// String returns the name of m.
func (m Mode) String() string {
	if m < 0 || int(m) >= len(names) {
		return fmt.Sprintf("mode %d", int(m))
	}
	return names[m]
}

// Modes lists the modes in the order of their values.
func Modes() []Mode { return []Mode{Default, AcceptEdits, Plan, Bypass} }

// Help describes m to people in a line.
func (m Mode) Help() string {
	switch m {
	case Default:
		return "edits and commands ask; read-only commands and those in a copy do not"
	case AcceptEdits:
		return "edits are saved without asking; commands ask as in default mode"
	case Plan:
		return "the model reads and plans; nothing is changed"
	case Bypass:
		return "nothing asks (only from the start: --permission-mode bypass)"
	}
	return ""
}

// Explain describes m to a model in one or two sentences. unattended is set if nobody can
// be asked.
func (m Mode) Explain(unattended bool) string {
	switch m {
	case Default:
		if unattended {
			return "Nobody can be asked: edits and commands that no rule allows are declined."
		}
		return "Edits and commands are shown to the user for approval."
	case AcceptEdits:
		if unattended {
			return "Edits are written unseen. Nobody can be asked: commands that no rule allows are declined."
		}
		return "Edits are written without asking the user, who still decides about commands."
	case Plan:
		const plan = "Edits and commands are declined, except some read-only commands, such as ls. Read and search, then "
		if unattended {
			return plan + "answer with a plan: what you would change, where, and how you would check it."
		}
		return plan + "call present_plan with a plan: what you would change, where, and how you would check it. If the user only asks something, just answer."
	case Bypass:
		return "Edits and commands are carried out without asking anyone: take care with what cannot be undone."
	}
	return ""
}

// next returns the mode after m in Policy.Cycle.
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
