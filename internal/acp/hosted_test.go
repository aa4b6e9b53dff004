package acp

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
)

// TestRepliesOfATerminal: a reply that needs a terminal is an error for a host's user, after
// its text.
func TestRepliesOfATerminal(t *testing.T) {
	for want, replies := range map[bool][]command.Reply{
		true:  {{Edit: &command.Edit{}}, {Page: &pager.Page{}}, {Diff: "x"}, {Copy: "x"}, {Text: "shown", Edit: &command.Edit{}}},
		false: {{}, {Text: "shown"}},
	} {
		for _, r := range replies {
			var shown string
			err := (&hosted{}).follow(t.Context(), "compact", r, func(s string) { shown = s })
			if told := err != nil && strings.Contains(err.Error(), "this form of /compact works in a terminal only"); told != want || shown != r.Text {
				t.Errorf("%+v: %v, shown %q", r, err, shown)
			}
		}
	}
}
