package remote

import (
	"net/http"
	"strings"
	"time"
)

// RetryAfter returns how long the server asks to wait, zero if it does not say.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if d, err := time.ParseDuration(h.Get("Retry-After-Ms") + "ms"); err == nil && d > 0 {
		return d
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if d, err := time.ParseDuration(value + "s"); err == nil {
		return max(d, 0)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
