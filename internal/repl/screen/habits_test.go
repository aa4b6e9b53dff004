package screen

import (
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
)

func TestDetect(t *testing.T) {
	const near, far = 30 * time.Millisecond, 300 * time.Millisecond
	tests := []struct {
		name string
		env  []string
		want habits
	}{
		{"modern", []string{"TERM=xterm-256color", "COLORTERM=truecolor"}, habits{colorprofile.TrueColor, rewrapAll, true, near, false}},
		{"256 colors", []string{"TERM=xterm-256color"}, habits{colorprofile.ANSI256, rewrapAll, true, near, false}},
		{"16 colors", []string{"TERM=xterm"}, habits{colorprofile.ANSI, rewrapAll, true, near, false}},
		{"xterm itself", []string{"TERM=xterm-256color", "XTERM_VERSION=XTerm(390)"}, habits{colorprofile.ANSI256, rewrapNone, true, near, false}},
		{"tmux", []string{"TERM=screen", "TMUX=/tmp/x,1,0"}, habits{colorprofile.ANSI256, rewrapAll, true, near, false}},
		{"GNU Screen", []string{"TERM=screen-256color", "STY=1.pts"}, habits{colorprofile.ANSI256, rewrapNone, true, near, true}},
		{"VS Code", []string{"TERM=xterm-256color", "COLORTERM=truecolor", "TERM_PROGRAM=vscode"}, habits{colorprofile.TrueColor, rewrapOthers, true, near, false}},
		{"console", []string{"TERM=linux"}, habits{colorprofile.ANSI, rewrapNone, false, near, false}},
		{"far away, without colors", []string{"TERM=xterm-256color", "NO_COLOR=1", "SSH_CONNECTION=1 2 3 4"}, habits{colorprofile.ASCII, rewrapAll, true, far, false}},
		{"an empty NO_COLOR says nothing", []string{"TERM=xterm-256color", "NO_COLOR="}, habits{colorprofile.ANSI256, rewrapAll, true, near, false}},
	}
	for _, tt := range tests {
		if got := detect(tt.env); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
