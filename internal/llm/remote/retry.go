package remote

import (
	"net/http"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// askedFor finds the time to wait in a message such as "Please try again in 6h12m5.3s." or
// "Please retry in 34s".
var askedFor = lazyregexp.New(`(?i)(?:try again|retry)(?: your request)? (?:in|after) (?:about )?((?:\d+h)?(?:\d+m)?(?:[\d.]+m?s)?)\b`)

// askedWait returns the time that a server's message asks to wait, zero if it does not say.
func askedWait(text string) time.Duration {
	m := askedFor.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	d, err := time.ParseDuration(m[1])
	if err != nil {
		return 0
	}
	return max(d, 0)
}

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
