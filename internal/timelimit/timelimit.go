// Package timelimit bounds waits. Its guarantee: the error of a wait that took too long
// names the limit, instead of "context deadline exceeded" or "signal: killed".
package timelimit

import (
	"context"
	"errors"
	"time"
)

// Error reports that a limit was reached. It is a context.DeadlineExceeded.
type Error struct {
	Limit time.Duration
}

func (e *Error) Error() string { return "no answer within " + e.Limit.String() }

// Is makes e a context.DeadlineExceeded.
func (*Error) Is(target error) bool { return target == context.DeadlineExceeded }

// Context returns a context that ends after limit at the latest.
func Context(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, &Error{limit})
}

// Explain returns the error of a failed operation under ctx: an *Error if it failed
// because a limit of Context was reached, otherwise err.
func Explain(ctx context.Context, err error) error {
	if reached := new(Error); err != nil && errors.As(context.Cause(ctx), &reached) {
		return reached
	}
	return err
}
