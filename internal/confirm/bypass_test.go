package confirm_test

import (
	"context"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/bypass"
)

// board is a weaker controller: whatever is answered goes to the question asked last.
type board struct {
	last chan confirm.Verdict
}

func (b *board) ask() <-chan confirm.Verdict {
	b.last = make(chan confirm.Verdict, 1)
	return b.last
}

// trusting is the policy of a mode for CI that assumes trust.
type trusting struct{}

func (trusting) Decide(confirm.Request) (confirm.Verdict, bool) {
	return confirm.Verdict{Decision: confirm.Approve}, true
}

func (trusting) Grant(confirm.Request) {}

// handed is a reviewer whose answers the test gives, also too late.
type handed struct{ answers chan confirm.Verdict }

func (h handed) Review(ctx context.Context, _ confirm.Request) (confirm.Verdict, error) {
	select {
	case v := <-h.answers:
		return v, nil
	case <-ctx.Done():
		return confirm.Verdict{Decision: confirm.Approve}, nil
	}
}

// TestPublishedBypasses gives answers that are for another question, or for none.
func TestPublishedBypasses(t *testing.T) {
	yes := confirm.Verdict{Decision: confirm.Approve}
	bypass.Try(t, "openai/codex#11112, #10930: an answer to one question approves another", "an answer belongs to the question that it was asked for, and one question is open at a time", func(*testing.T) bool {
		var b board
		b.ask()
		second := b.ask()
		b.last <- yes // to the first
		return (<-second).Decision == confirm.Approve
	}, func(t *testing.T) bool {
		slow := handed{make(chan confirm.Verdict)}
		c := confirm.NewController(nil, slow)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-time.After(5 * time.Millisecond)
			cancel() // the first question; its reviewer then says yes
		}()
		if v, err := c.Ask(ctx, edit("")); err == nil {
			t.Fatalf("%+v", v)
		}
		go func() { slow.answers <- confirm.Verdict{} }()
		v, err := c.Ask(t.Context(), edit(""))
		return err == nil && v.Decision == confirm.Approve
	})
	bypass.Try(t, "CVE-2026-12537: with nobody to ask, everything is approved", "no answer means no", func(t *testing.T) bool {
		v, err := confirm.NewController(trusting{}).Ask(t.Context(), edit(""))
		return err == nil && v.Decision == confirm.Approve
	}, func(t *testing.T) bool {
		v, err := confirm.NewController(nil).Ask(t.Context(), edit(""))
		return err != nil || v.Decision == confirm.Approve || !v.Unasked
	})
}
