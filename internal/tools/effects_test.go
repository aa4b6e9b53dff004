package tools

import (
	"errors"
	"testing"

	"github.com/bb2d0cf4/agent/internal/workspace/effects"
)

// TestEffectsThatAreNotKnown: the model and the user learn that undo may miss changes.
func TestEffectsThatAreNotKnown(t *testing.T) {
	res := Result{ForModel: "exit code: 0\n", ForUser: "exit 0"}
	res.Effects(effects.Report{Err: errors.New("the folder is gone")})
	if want := "exit 0 · undo may miss its changes: the folder is gone"; res.ForUser != want {
		t.Errorf("the user reads %q, want %q", res.ForUser, want)
	}
	if want := "exit code: 0\n[while it ran: some of its changes are unknown: the folder is gone]"; res.ForModel != want {
		t.Errorf("the model reads %q, want %q", res.ForModel, want)
	}
}
