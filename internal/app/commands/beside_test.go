package commands

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// busy scripts a turn of many edits.
func busy(edits int) string {
	var b strings.Builder
	b.WriteString("turns:\n  - text: Hello.\n")
	for i := range edits {
		from, to := "one", "two"
		if i%2 == 1 {
			from, to = to, from
		}
		b.WriteString("  - when: {prompt_contains: work}\n    text: I work.\n    calls: [{tool: edit_file, args: {path: a.txt, old_string: " + from + ", new_string: " + to + "}}]\n")
	}
	b.WriteString("  - when: {prompt_contains: work}\n    text: Done.\n")
	return b.String()
}

// Commands during a turn read the conversation while the turn extends it. The race
// detector judges.
func TestCommandsBesideATurn(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // so that /copy finds no clipboard to change
	r := &reviewer{verdict: confirm.Verdict{Decision: confirm.Approve}}
	s := sittingWith(t, r, busy(40))
	if err := s.App.Run(t.Context(), "hello"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.App.Run(t.Context(), "work") }()
	for n := 0; ; n++ {
		select {
		case err := <-done:
			if err != nil || n == 0 {
				t.Errorf("%d rounds beside the turn, which ended with %v", n, err)
			}
			return
		default:
		}
		for _, line := range []string{"/diff", "/diff turn", "/diff a.txt", "/context", "/context full", "/todo", "/sessions", "/permissions", "/config", "/copy", "/export out.md"} {
			if line == "/export out.md" && n > 0 {
				continue
			}
			if _, err := s.run(t, line); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
}
