package remote

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
)

func TestWaitsGrowWithJitter(t *testing.T) {
	c := New(Options{Clock: Clock{Rand: func() float64 { return 0 }}}, nil)
	full := New(Options{Clock: Clock{Rand: func() float64 { return 1 }}}, nil)
	for i, want := range []time.Duration{firstWait, 2 * firstWait, 4 * firstWait, 8 * firstWait, 16 * firstWait, 32 * firstWait, longWait, longWait} {
		if low, high := c.wait(i+1, 0), full.wait(i+1, 0); low != want/2 || high != want {
			t.Errorf("before attempt %d: %v to %v, want up to %v", i+2, low, high, want)
		}
	}
}

func TestRealClockSleeps(t *testing.T) {
	if err := sleep(t.Context(), time.Microsecond); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestRedirectToPlainHTTP(t *testing.T) {
	first, next := &http.Request{URL: &url.URL{Scheme: "https", Host: "h"}}, &http.Request{URL: &url.URL{Scheme: "http", Host: "h"}}
	if err := checkRedirect(next, []*http.Request{first}); err == nil || !strings.Contains(err.Error(), "unencrypted") {
		t.Error(err)
	}
}

// A part that is short in any conversation may be too long by itself.
func TestLongPartIsNotTooLong(t *testing.T) {
	for field, want := range map[string]llm.ErrorKind{
		"messages[2].tool_calls[0].id": llm.Refused, "messages[3].tool_call_id": llm.Refused, "tools[0].function.name": llm.Refused, "messages[1].content": llm.TooLong,
	} {
		e := ParseServerError([]byte(`{"error":{"message":"string too long","type":"invalid_request_error","param":"` + field + `","code":"string_above_max_length"}}`))
		e.Status = http.StatusBadRequest
		if kind, _ := e.Kind(); kind != want {
			t.Errorf("%s: kind %d", field, kind)
		}
	}
}

// Too many tokens in a minute are no reason to shorten the conversation.
func TestThrottledIsNotTooLong(t *testing.T) {
	for _, body := range []string{
		`{"error":{"type":"throttlingException","message":"Too many tokens, please wait before trying again."}}`,
		`{"error":{"type":"ThrottlingException","message":"Too many input tokens per minute."}}`,
	} {
		if kind, again := ParseServerError([]byte(body)).Kind(); kind != llm.Temporary || !again {
			t.Errorf("%s: kind %d, %v", body, kind, again)
		}
	}
}
