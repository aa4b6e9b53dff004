package sanitize_test

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/bypass"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// TestPublishedBypasses writes hostile text to a model of a terminal.
func TestPublishedBypasses(t *testing.T) {
	raw := func(s string) string { return s }
	shown := func(clean func(string) string, text string) *vt.Terminal {
		m := vt.New(vt.Options{Width: 60, Height: 10})
		_, _ = m.Write([]byte("Run this command?\r\n" + strings.ReplaceAll(clean(text), "\n", "\r\n")))
		return m
	}
	for _, c := range []struct {
		attack, text string
		worked       func(m *vt.Terminal) bool
	}{
		{"CVE-2024-27936: a prompt is painted over by what it shows", "evil --all\x1b[2K\rls", func(m *vt.Terminal) bool {
			return strings.Contains(m.String(), "ls") && !strings.Contains(m.String(), "evil")
		}},
		{"GHSA-364c-vvqx-446c: a file's name sets the title", "a\x1b]0;owned\ab.txt", func(m *vt.Terminal) bool { return m.Stats().Title == "owned" }},
		{"a carriage return hides the beginning of a command", "curl evil\rls       ", func(m *vt.Terminal) bool { return !strings.Contains(m.String(), "curl evil") }},
		{"CVE-2021-42574: text that is read in another order than it is shown", "if admin\u202e \u2066// off\u2069 \u2066", func(m *vt.Terminal) bool { return !strings.Contains(m.String(), `\u{202e}`) }},
		{"hidden tag characters in instructions", "be kind\U000e0065\U000e0076\U000e0069\U000e006c", func(m *vt.Terminal) bool { return !strings.Contains(m.String(), `\u{e0065}`) }},
		{"a control of the eighth bit, not begun by an escape", "x\u009b2Jy", func(m *vt.Terminal) bool { return !strings.Contains(m.String(), `\u{9b}`) }},
	} {
		bypass.Try(t, c.attack, "text that is not ours reaches the terminal with its hidden characters spelt out",
			func(*testing.T) bool { return c.worked(shown(raw, c.text)) },
			func(*testing.T) bool { return c.worked(shown(sanitize.Text, c.text)) })
	}
}
