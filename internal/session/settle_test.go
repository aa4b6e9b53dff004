package session

import (
	"context"
	"errors"
	"testing"

	"github.com/bb2d0cf4/agent/internal/tools"
)

// refusal is one pending change, which a person refuses with words and then cancels.
type refusal struct {
	cancel  context.CancelFunc
	pending int
}

func (r *refusal) Pending() int { return r.pending }

func (r *refusal) Held() string { return "" }

func (r *refusal) DropPending() []string {
	r.pending = 0
	return []string{"a.go"}
}

func (r *refusal) Settle(context.Context, tools.Call) (*tools.Result, error) {
	r.cancel()
	return &tools.Result{ForModel: "Not so.", Failed: true}, nil
}

// No change stays pending after a turn that was cancelled during its review: the next
// prompt may belong to another session.
func TestNothingIsPendingAfterACancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g := &refusal{cancel: cancel, pending: 1}
	r := newRig(t, Options{Gathered: g}, say("done"))
	if err := r.Run(ctx, "go"); !errors.Is(err, context.Canceled) || g.pending != 0 {
		t.Errorf("%d pending, %v", g.pending, err)
	}
}
