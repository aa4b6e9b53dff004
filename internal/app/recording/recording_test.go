package recording

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/audit"
	"github.com/bb2d0cf4/agent/internal/session/archive"
)

// TestUndoIsRemarked: a replay does not undo, so its files are those before the undo.
func TestUndoIsRemarked(t *testing.T) {
	for _, tool := range []string{"undo", "redo"} {
		s, remarks := of(archive.Info{Dir: "/w"}, archive.Conversation{}, []audit.Entry{
			{Event: audit.Written, Tool: "edit_file", Subject: "/w/a.txt", Hash: "edited"},
			{Event: audit.Written, Tool: tool, Subject: "/w/a.txt", Hash: "before"},
		}, nil)
		if got := s.Recording.Files["a.txt"]; got != "edited" {
			t.Errorf("after %s, a.txt is recorded as %q", tool, got)
		}
		if len(remarks) != 1 || !strings.Contains(remarks[0], "undone") {
			t.Errorf("the remarks on %s are %q", tool, remarks)
		}
	}
}

// TestAnInterruptedQuestionIsRemarked: a turn that was stopped at a question has no answer of the
// program, so that only the log tells.
func TestAnInterruptedQuestionIsRemarked(t *testing.T) {
	_, remarks := of(archive.Info{Dir: "/w"}, archive.Conversation{}, []audit.Entry{
		{Event: audit.Withdrawn, Tool: "execute_command", Kind: "command", Subject: "make"},
	}, nil)
	if len(remarks) != 1 || !strings.Contains(remarks[0], "interrupted") {
		t.Errorf("the remarks are %q", remarks)
	}
}
