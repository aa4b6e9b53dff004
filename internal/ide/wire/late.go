package wire

import (
	"context"
	"fmt"
	"time"
)

// LateError reports a missed deadline as a sentence for people. It is a
// [context.DeadlineExceeded].
type LateError struct {
	What  string // "Neovim has not answered"
	After time.Duration
}

func (e *LateError) Error() string { return fmt.Sprintf("%s within %s", e.What, e.After) }

// Is makes a LateError a context.DeadlineExceeded.
func (e *LateError) Is(target error) bool { return target == context.DeadlineExceeded }
