package screen

import (
	"strings"
	"time"

	"github.com/charmbracelet/colorprofile"
)

// What is done to the terminal while it is ours. The keyboard modes are set, not
// pushed: what an earlier program left behind when it was killed is overwritten
// here and taken back by giveModes.
const (
	takeModes = "\x1b[?2004h" + // pastes come in brackets
		"\x1b[>4;2m" + "\x1b[=1;1u" + // Shift+Enter and a lone Esc are told apart
		"\x1b[J"
	giveModes = "\x1b[=0;1u" + "\x1b[>4m" + "\x1b[?2004l" + "\x1b[?7h" + "\x1b[?25h" + "\x1b[m"

	askTerminal = "\x1b[?2026$p" + "\x1b]11;?\x1b\\"

	enterAlt = "\x1b[?1049h" + "\x1b[=1;1u" + "\x1b[H\x1b[2J" // the keyboard mode is per screen
	leaveAlt = "\x1b[=0;1u" + "\x1b[?1049l"

	beginFrame, endFrame = "\x1b[?2026h", "\x1b[?2026l"
	wrapOff, wrapOn      = "\x1b[?7l", "\x1b[?7h"
	hideCursor           = "\x1b[?25l"
	showCursor           = "\x1b[?25h"
	eraseBelow           = "\x1b[J"
	eraseLine            = "\x1b[K"
	resetStyle           = "\x1b[m"
)

// rewrap is what a terminal does with the lines on it when it gets narrower.
type rewrap int

const (
	rewrapAll    rewrap = iota // a line that is too wide continues on the next row
	rewrapOthers               // … but not the line with the cursor, which is cut
	rewrapNone                 // every line is cut
)

// habits is what is known about a terminal before it has answered anything.
type habits struct {
	profile colorprofile.Profile
	rewrap  rewrap
	sync    bool
	latency time.Duration // after which it has seen what was written
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
		latency: 30 * time.Millisecond,
	}
	if vars["SSH_TTY"] != "" || vars["SSH_CONNECTION"] != "" {
		h.latency = 300 * time.Millisecond
	}
	return h
}

// profileOf looks at the environment alone: asking tmux or a terminfo database
// would cost more than the first frame.
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
