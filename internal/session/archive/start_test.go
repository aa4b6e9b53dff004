package archive

import (
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// The newest description of a session's beginning is there when it is continued.
func TestStart(t *testing.T) {
	kept := New(t.TempDir())
	s := kept.Create("/src", "m")
	want := Start{Day: "2026-03-04", Branch: "main", Overview: "a.go\n"}
	for _, err := range []error{
		s.Append(history.Entry{Item: &history.Item{N: 1, Message: history.Text(llm.User, "hi")}}),
		s.Start(Start{Day: "2026-03-03"}), s.Start(want), s.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	again, err := kept.Open(s.ID())
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Conversation(); got.Start != want || len(got.Entries) != 1 {
		t.Errorf("%+v", got)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
