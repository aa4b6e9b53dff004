package remote

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// askedFor finds the time to wait in a message such as "Please try again in 6h12m5.3s." or
// "Please retry in 34s".
var askedFor = lazyregexp.New(`(?i)(?:try again|retry)(?: your request)? (?:in|after) (?:about )?((?:\d+h)?(?:\d+m)?(?:[\d.]+m?s)?)\b`)

// askedInWords finds such a time in "Please wait 5012 seconds before retrying".
var askedInWords = lazyregexp.New(`(?i)(?:try again|retry|wait)(?: (?:in|after|for|about|another))* (\d{1,6}) ?(second|minute|hour|day)s?\b`)

// askedWait returns the time that a server's message asks to wait, zero if it does not say.
func askedWait(text string) time.Duration {
	if m := askedFor.FindStringSubmatch(text); m != nil {
		if d, err := time.ParseDuration(m[1]); err == nil {
			return d
		}
	}
	m := askedInWords.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0
	}
	unit := map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}
	return time.Duration(n) * unit[strings.ToLower(m[2])]
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
