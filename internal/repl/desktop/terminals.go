package desktop

import (
	"strconv"
	"strings"
)

// method returns the terminal's way to notify; the bell works everywhere.
func (d *Desktop) method() string {
	term, program := d.env["TERM"], d.env["TERM_PROGRAM"]
	if d.env["TMUX"] != "" {
		program = d.outer()
	}
	switch {
	case program == "iTerm.app", program == "WezTerm", program == "ghostty", program == "WarpTerminal",
		d.env["KITTY_WINDOW_ID"] != "", strings.HasPrefix(term, "xterm-kitty"), strings.HasPrefix(term, "xterm-ghostty"):
		return "osc9"
	case strings.HasPrefix(term, "rxvt-unicode"), strings.HasPrefix(term, "foot"):
		return "osc777"
	}
	return "bell"
}

// outer returns the terminal around tmux, as far as the environment names it.
func (d *Desktop) outer() string {
	switch {
	case d.env["LC_TERMINAL"] == "iTerm2":
		return "iTerm.app"
	case d.env["WEZTERM_PANE"] != "":
		return "WezTerm"
	case d.env["GHOSTTY_RESOURCES_DIR"] != "":
		return "ghostty"
	}
	return ""
}

// showsProgress reports whether the terminal is known to support OSC 9;4: others show it as a
// notification.
func (d *Desktop) showsProgress() bool {
	program := d.env["TERM_PROGRAM"]
	if d.env["TMUX"] != "" {
		return false // tmux drops it or passes it to an unknown terminal
	}
	return d.env["WT_SESSION"] != "" || d.env["ConEmuANSI"] == "ON" || program == "ghostty" ||
		program == "iTerm.app" && atLeast(d.env["TERM_PROGRAM_VERSION"], 3, 6, 6)
}

// atLeast compares a version with major, minor and patch numbers.
func atLeast(version string, want ...int) bool {
	parts := strings.Split(version, ".")
	for i, w := range want {
		n := 0
		if i < len(parts) {
			n, _ = strconv.Atoi(parts[i]) // anything but a number counts as zero
		}
		if n != w {
			return n > w
		}
	}
	return true
}

// wrapped wraps a sequence so that tmux passes it to the terminal around it, if its option
// allow-passthrough is on.
func (d *Desktop) wrapped(seq string) string {
	if d.env["TMUX"] == "" {
		return seq
	}
	return "\x1bPtmux;" + strings.ReplaceAll(seq, "\x1b", "\x1b\x1b") + "\x1b\\"
}
