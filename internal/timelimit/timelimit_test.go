package timelimit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bb2d0cf4/agent/internal/timelimit"
)

func TestExplain(t *testing.T) {
	failed := errors.New("signal: killed")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := timelimit.Context(t.Context(), 90*time.Second)
		defer cancel()
		inner, stop := context.WithCancel(ctx)
		defer stop()
		if err := timelimit.Explain(inner, failed); !errors.Is(err, failed) {
			t.Errorf("before the limit: %v", err)
		}
		<-inner.Done()
		err := timelimit.Explain(inner, failed)
		if err == nil || err.Error() != "no answer within 1m30s" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after the limit: %v", err)
		}
		if err := timelimit.Explain(inner, nil); err != nil {
			t.Errorf("success: %v", err)
		}
	})
	ctx, cancel := timelimit.Context(t.Context(), time.Hour)
	cancel()
	if err := timelimit.Explain(ctx, failed); !errors.Is(err, failed) {
		t.Errorf("cancelled: %v", err)
	}
}
