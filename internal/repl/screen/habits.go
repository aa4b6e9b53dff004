package screen

import (
	"strings"
	"time"

	"github.com/charmbracelet/colorprofile"
)

// Sequences that set up and restore the terminal. The keyboard modes are set, not pushed:
// this overwrites modes left by a killed program, and giveModes resets it.
const (
	ambiguous = "─я"

	takeModes = "\x1b[?2004h" + // bracketed paste
		"\x1b[>4;2m" + "\x1b[=5;1u" + // distinguish Shift+Enter and Esc; report the key under a letter of another layout
		"\x1b[J"
	giveModes = "\x1b[=0;1u" + "\x1b[>4m" + "\x1b[?2004l" + "\x1b[?7h" + "\x1b[?25h" + "\x1b[m"

	askTerminal = "\x1b[?2026$p" + "\x1b]11;?\x1b\\" + askWidth

	// askWidth asks for the column before and after two characters of ambiguous width, and
	// erases them: the line, because tmux keeps a screen that is erased from its first line on in the scrollback.
	askWidth = "\x1b7\x1b[?7l" + "\x1b[?6n" + ambiguous + "\x1b[?6n" + "\x1b[?7h\x1b8" + eraseLine

	enterAlt = "\x1b[?1049h" + "\x1b[=5;1u" + "\x1b[H\x1b[2J" // each screen has its own keyboard mode
	leaveAlt = "\x1b[=0;1u" + "\x1b[?1049l"

	beginFrame, endFrame = "\x1b[?2026h", "\x1b[?2026l"
	wrapOff, wrapOn      = "\x1b[?7l", "\x1b[?7h"
	hideCursor           = "\x1b[?25l"
	showCursor           = "\x1b[?25h"
	eraseBelow           = "\x1b[J"
	eraseLine            = "\x1b[K"
	resetStyle           = "\x1b[m"
)

// rewrap is how a terminal treats existing lines when it gets narrower.
type rewrap int

const (
	rewrapAll    rewrap = iota // a line that is too wide continues on the next row
	rewrapOthers               // … except for the line with the cursor, which is cut
	rewrapNone                 // every line is cut
)

// habits describes a terminal before it has answered any query.
type habits struct {
	profile colorprofile.Profile
	rewrap  rewrap
	sync    bool
	latency time.Duration // until the terminal has certainly seen a write
	// single reports that the terminal may have no alternate screen, and keeps the pager on its only
	// one: GNU screen, unless altscreen is set.
	single bool
}

func detect(env []string) habits {
	vars := map[string]string{}
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok {
			vars[k] = v
		}
	}
	h := habits{
		profile: profileOf(env, vars),
		rewrap:  rewrapOf(vars),
		sync:    vars["TERM"] != "linux",
		single:  vars["STY"] != "" && vars["TMUX"] == "",
		latency: 30 * time.Millisecond,
	}
	if vars["SSH_TTY"] != "" || vars["SSH_CONNECTION"] != "" {
		h.latency = 300 * time.Millisecond
	}
	return h
}

// profileOf uses the environment only: querying tmux or terminfo would take longer than the
// first frame.
func profileOf(env []string, vars map[string]string) colorprofile.Profile {
	if vars["NO_COLOR"] != "" {
		return colorprofile.ASCII
	}
	return colorprofile.Env(env)
}

func rewrapOf(vars map[string]string) rewrap {
	term := vars["TERM"]
	switch {
	case vars["TMUX"] != "":
		return rewrapAll
	case vars["TERM_PROGRAM"] == "vscode":
		return rewrapOthers
	case vars["XTERM_VERSION"] != "", vars["STY"] != "",
		term == "linux", strings.HasPrefix(term, "screen"), strings.HasPrefix(term, "vt"):
		return rewrapNone
	}
	return rewrapAll
}
