package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/fixedport"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

func TestRetryAfterIsObeyed(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := map[string]struct {
		header, value string
		want          time.Duration
	}{
		"seconds":            {"Retry-After", "7", 7 * time.Second},
		"fraction":           {"Retry-After", "1.5", 1500 * time.Millisecond},
		"date":               {"Retry-After", now.Add(9 * time.Second).Format(http.TimeFormat), 9 * time.Second},
		"milliseconds":       {"Retry-After-Ms", "250", 250 * time.Millisecond},
		"minutes":            {"Retry-After", "300", 5 * time.Minute},
		"a past date":        {"Retry-After", now.Add(-time.Hour).Format(http.TimeFormat), firstWait},
		"nonsense":           {"Retry-After", "soon", firstWait},
		"negative":           {"Retry-After", "-5", firstWait},
		"nothing, so jitter": {"X-Other", "1", firstWait},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			limited := llmtest.Turn{Handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set(test.header, test.value)
				w.WriteHeader(http.StatusTooManyRequests)
			}}
			s := llmtest.NewServer(t, limited, llmtest.Turn{Text: "hi"})
			var slept []time.Duration
			c := client(t, s.URL(), func(o *options) {
				o.Clock.Now = func() time.Time { return now }
				o.Clock.Sleep = func(_ context.Context, d time.Duration) error { slept = append(slept, d); return nil }
			})
			h := collect(t.Context(), c, hello())
			if h.err != nil || h.text != "hi" {
				t.Fatalf("response %+v", h)
			}
			if diff := cmp.Diff([]time.Duration{test.want}, slept); diff != "" {
				t.Error(diff)
			}
			if len(h.retries) != 1 || h.retries[0].Wait != test.want {
				t.Errorf("the notices are %+v", h.retries)
			}
		})
	}
}

// TestALongWaitIsTold checks that a request is not sent again, and again in vain, if the server
// asks for hours, and that the person learns until when.
func TestALongWaitIsTold(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, test := range map[string]struct{ header, body, want string }{
		"a header":  {"10800", `{"error":{"message":"Rate limit reached"}}`, "asks to wait 3 hours, until 06:04"},
		"a date":    {now.Add(50 * time.Hour).Format(http.TimeFormat), `{"error":{"message":"Rate limit reached"}}`, "until Sun, Jan 4, 05:04"},
		"in words":  {"", `{"error":{"message":"Rate limit exceeded. Please wait 5012 seconds before retrying."}}`, "until 04:27"},
		"a message": {"", `{"error":{"message":"Rate limit reached on tokens per day. Please try again in 6h12m5.3s."}}`, "until 09:16"},
	} {
		s := llmtest.NewServerFunc(t, func(int, []byte) llmtest.Turn {
			return llmtest.Turn{Handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", test.header)
				w.WriteHeader(http.StatusTooManyRequests)
				_, _ = io.WriteString(w, test.body)
			}}
		})
		c := client(t, s.URL(), func(o *options) { o.Clock.Now = func() time.Time { return now } })
		h := collect(t.Context(), c, hello())
		if e := h.kind(t); len(s.Requests()) != 1 || !strings.Contains(e.Message, test.want) {
			t.Errorf("%s: %d requests, %v", name, len(s.Requests()), e)
		}
	}
}

// TestSignsOfLife checks that a server may work for long on a prompt, if it sends anything in
// the meantime, and that one on this machine need not.
func TestSignsOfLife(t *testing.T) {
	for name, sign := range map[string]string{
		"a comment": ": OPENROUTER PROCESSING\n\n", "a blank line": "\n", "an empty event": events(`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`),
		"progress": events(`{"choices":[{"index":0,"delta":{}}],"prompt_progress":{"total":9000,"processed":512}}`), "a ping": "event: ping\ndata: {\"type\": \"ping\"}\n\n",
		"empty reasoning": events(`{"choices":[{"index":0,"delta":{"reasoning_content":""}}]}`), "local": "",
	} {
		synctest.Test(t, func(t *testing.T) {
			attempts := 0
			c := open(options{Options: remote.Options{Local: sign == "", Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
				attempts++
				r, w := io.Pipe()
				context.AfterFunc(req.Context(), func() { _ = w.CloseWithError(req.Context().Err()) }) // never fails
				go func() {
					for range 12 {
						<-time.After(100 * time.Second)
						_, _ = io.WriteString(w, sign)
					}
					_, _ = io.WriteString(w, events(says("hi"), stop, finished))
					_ = w.Close() // never fails
				}()
				return &http.Response{StatusCode: http.StatusOK, Body: r}, nil
			})}})
			if h := collect(t.Context(), c, hello()); h.err != nil || h.text != "hi" || attempts != 1 {
				t.Errorf("%s: %+v after %d attempts", name, h, attempts)
			}
		})
	}
}

// TestMorePatience checks that an attempt after a silence may take longer.
func TestMorePatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		c := open(options{Options: remote.Options{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			attempts++
			select {
			case <-time.After(400 * time.Second):
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(events(says("hi"), stop, finished)))}, nil
		})}})
		if h := collect(t.Context(), c, hello()); h.err != nil || h.text != "hi" || attempts != 3 {
			t.Errorf("%+v after %d attempts", h, attempts)
		}
	})
}

// idle is a silence of the server that is longer than any of a busy machine.
const idle = 2 * time.Second

// TestASilentStreamEnds checks that headers alone do not count as an answer.
func TestASilentStreamEnds(t *testing.T) {
	t.Parallel()
	silent := map[string]func(w http.ResponseWriter){
		"no headers":   nil,
		"headers only": func(http.ResponseWriter) {},
	}
	for name, send := range silent {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			left := make(chan struct{})
			s := llmtest.NewServer(t, llmtest.Turn{Handler: func(w http.ResponseWriter, r *http.Request) {
				defer close(left)
				for send != nil {
					send(w)
					if http.NewResponseController(w).Flush() != nil {
						return
					}
					select {
					case <-r.Context().Done():
						return
					case <-time.After(5 * time.Millisecond):
					}
				}
				<-r.Context().Done()
			}})
			c := client(t, s.URL(), func(o *options) { o.Limits = remote.Limits{Idle: idle, MaxAttempts: 1} })
			h := collect(t.Context(), c, hello())
			if e := h.kind(t); e.Kind != llm.Idle || !strings.Contains(e.Message, "2s") {
				t.Errorf("kind %d, %v", e.Kind, e)
			}
			<-left // the connection was closed
		})
	}
}

func TestSilenceAfterText(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServerFunc(t, func(int, []byte) llmtest.Turn {
		return llmtest.Turn{Text: "half of it", Chunk: 4, Fault: llmtest.Stall, After: 2}
	})
	h := collect(t.Context(), client(t, s.URL(), func(o *options) { o.Limits = remote.Limits{Idle: idle, MaxAttempts: 2} }), hello())
	if e := h.kind(t); e.Kind != llm.Idle || h.text != "half of " || len(h.retries) != 1 || s.Fired(llmtest.Stall) != 2 {
		t.Errorf("kind %d, response %q, stalls %d", e.Kind, h.text, s.Fired(llmtest.Stall))
	} else if !strings.Contains(e.Message, "nothing more of its answer") {
		t.Errorf("a part has come, and the user is told %q", e.Message)
	}
}

// TestSlowListener checks that the time that the caller takes does not count as
// silence.
func TestSlowListener(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	s := llmtest.NewServer(t, llmtest.Turn{Handler: func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, events(says("first ")))
		_ = http.NewResponseController(w).Flush()
		<-goOn
		_, _ = io.WriteString(w, events(says("second"), stop, finished))
	}})
	c := client(t, s.URL(), func(o *options) { o.Limits.Idle = idle })
	text, ended := "", false
	for d, err := range c.Stream(t.Context(), hello()) {
		if err != nil {
			t.Fatal(err)
		}
		if d.Text == "first " {
			<-time.After(idle + idle/4)
			close(goOn)
		}
		text += d.Text
		ended = ended || d.End != nil
	}
	if text != "first second" || !ended {
		t.Errorf("response %q", text)
	}
}

// TestTheEndMarkMayBeMissing checks that the client waits only for a moment once the
// model has finished.
func TestTheEndMarkMayBeMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(options{Options: remote.Options{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			body := io.MultiReader(strings.NewReader(events(says("hi"), stop)), untilDone{r.Context().Done(), r.Context().Err})
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(body)}, nil
		})}})
		start := time.Now()
		h := collect(t.Context(), c, hello())
		if h.end == nil || h.text != "hi" || time.Since(start) != endTime {
			t.Errorf("response %+v after %v", h, time.Since(start))
		}
	})
}

// untilDone blocks its reader until the request is cancelled.
type untilDone struct {
	done  <-chan struct{}
	cause func() error
}

func (u untilDone) Read([]byte) (int, error) {
	<-u.done
	return 0, u.cause()
}

// TestSilenceAfterTheFinish checks that an answer is complete once the model has
// finished.
func TestSilenceAfterTheFinish(t *testing.T) {
	t.Parallel()
	for _, fault := range []llmtest.Fault{llmtest.Stall, llmtest.Drop} {
		s := llmtest.NewServer(t, llmtest.Turn{Text: "hi", Fault: fault, After: 2})
		h := collect(t.Context(), client(t, s.URL(), func(o *options) { o.Limits.Idle = idle }), hello())
		if h.err != nil || h.end == nil || h.text != "hi" || !h.end.Usage.Estimated || s.Fired(fault) != 1 {
			t.Errorf("response %+v", h)
		}
	}
}

func TestTotalLimit(t *testing.T) {
	s := llmtest.NewServer(t, llmtest.Turn{Text: strings.Repeat("word ", 10000), Pace: time.Millisecond})
	h := collect(t.Context(), client(t, s.URL(), func(o *options) { o.Limits.Total = 100 * time.Millisecond }), hello())
	if e := h.kind(t); e.Kind != llm.Idle || !strings.Contains(e.Message, "not complete after 100ms") {
		t.Errorf("kind %d, %v", e.Kind, e)
	}
}

func TestCancelEndsTheStreamAtOnce(t *testing.T) {
	stall := map[string]llmtest.Turn{
		"before the headers": {Gate: make(chan struct{})},
		"in the stream":      {Text: "half of it", Chunk: 4, Fault: llmtest.Stall, After: 2},
	}
	for name, turn := range stall {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer(t, turn)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				defer cancel()
				_ = s.Await(t.Context(), 1)
			}()
			h := collect(ctx, client(t, s.URL()), hello())
			if h.err != ctx.Err() || h.end != nil { //nolint:errorlint // the bare error is promised
				t.Errorf("response %+v", h)
			}
		})
	}
	t.Run("while waiting to try again", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := llmtest.NewServerFunc(t, func(int, []byte) llmtest.Turn { return llmtest.Raw(500, "", "") })
		c := client(t, s.URL(), func(o *options) {
			o.Clock.Sleep = func(ctx context.Context, _ time.Duration) error { cancel(); <-ctx.Done(); return ctx.Err() }
		})
		if h := collect(ctx, c, hello()); !errors.Is(h.err, context.Canceled) || len(s.Requests()) != 1 {
			t.Errorf("response %+v", h)
		}
	})
}

func TestBreakingOutCancels(t *testing.T) {
	s := llmtest.NewServer(t, llmtest.Turn{Text: "abcdefgh", Chunk: 4, Fault: llmtest.Stall, After: 2}, llmtest.Turn{Text: "next"})
	c := client(t, s.URL())
	for _, err := range c.Stream(t.Context(), hello()) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	if h := collect(t.Context(), c, hello()); h.text != "next" {
		t.Errorf("response %+v", h)
	}
}

// TestRedirects checks that another host gets neither key nor text.
func TestRedirects(t *testing.T) {
	var reached int
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	t.Cleanup(other.Close)
	to := func(status int, target string) llmtest.Turn {
		return llmtest.Turn{Handler: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, status) }}
	}
	withKey := func(o *options) { o.Key = func(context.Context) (string, error) { return "secret-key-1", nil } }

	for _, status := range []int{301, 302, 303, 307, 308} {
		s := llmtest.NewServer(t, to(status, other.URL+"/v1/chat/completions"))
		e := collect(t.Context(), client(t, s.URL(), withKey), hello()).kind(t)
		if e.Kind != llm.Refused || !strings.Contains(e.Message, "another host") || strings.Contains(e.Message, "secret") {
			t.Errorf("%d: kind %d, %v", status, e.Kind, e)
		}
	}
	if reached != 0 {
		t.Errorf("the other host was asked %d times", reached)
	}
	t.Run("same host", func(t *testing.T) {
		s := llmtest.NewServer(t, to(307, "/elsewhere/chat/completions"), llmtest.Turn{Text: "hi"})
		h := collect(t.Context(), client(t, s.URL(), withKey), hello())
		if h.text != "hi" || string(s.Requests()[0]) != string(s.Requests()[1]) {
			t.Errorf("response %+v", h)
		}
	})
	t.Run("that loses the body", func(t *testing.T) {
		s := llmtest.NewServer(t, to(302, "/elsewhere/chat/completions"))
		if e := collect(t.Context(), client(t, s.URL()), hello()).kind(t); !strings.Contains(e.Message, "loses the request") {
			t.Error(e)
		}
	})
	t.Run("again and again", func(t *testing.T) {
		s := llmtest.NewServerFunc(t, func(int, []byte) llmtest.Turn { return to(307, "/x/chat/completions") })
		if e := collect(t.Context(), client(t, s.URL()), hello()).kind(t); !strings.Contains(e.Message, "again and again") {
			t.Error(e)
		}
	})
}

// nobody returns an address of this machine at which nothing listens.
func nobody(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", fixedport.Silent(t))
}

func TestUnreachable(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	local := nobody(t)
	tests := map[string]struct {
		url     string
		message []string
	}{
		"nothing listens": {"http://" + local + "/v1", []string{local, "does not answer", "Start"}},
		"no such name":    {"http://no-such-host.invalid/v1", []string{"no-such-host.invalid", "base URL"}},
		"not trusted":     {secure.URL, []string{"self-signed certificate"}},
		"not TLS":         {strings.Replace(plain.URL, "http:", "https:", 1), []string{"does not speak TLS"}},
		"not an address":  {"localhost:11434", []string{"localhost:11434", "is not valid"}},
		"not http":        {"ftp://x/v1", []string{"is not valid"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := collect(t.Context(), client(t, test.url), hello()).kind(t)
			if e.Kind != llm.Unreachable {
				t.Errorf("kind %d", e.Kind)
			}
			for _, m := range test.message {
				if !strings.Contains(e.Error(), m) {
					t.Errorf("%q does not say %q", e.Error(), m)
				}
			}
		})
	}
}

// TestARefusedConnectionElsewhere checks that it is tried again, unlike one on this
// machine.
func TestARefusedConnectionElsewhere(t *testing.T) {
	address := nobody(t)
	c := client(t, "http://model.example/v1", func(o *options) {
		transport := remote.NewTransport(nil)
		transport.Proxy = nil
		transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, address)
		}
		o.Transport = transport
	})
	h := collect(t.Context(), c, hello())
	if e := h.kind(t); e.Kind != llm.Unreachable || len(h.retries) != 5 || !strings.Contains(e.Message, "model.example") {
		t.Errorf("response %+v", h)
	}
}

func TestConnectionsAreKept(t *testing.T) {
	s := llmtest.NewServerFunc(t, func(int, []byte) llmtest.Turn { return llmtest.Turn{Text: "hi"} })
	dials := 0
	c := client(t, s.URL(), func(o *options) {
		transport, ok := o.Transport.(*http.Transport)
		if !ok {
			t.Fatal("not our transport")
		}
		dial := transport.DialContext
		transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials++
			return dial(ctx, network, addr)
		}
	})
	for range 20 {
		if h := collect(t.Context(), c, hello()); h.err != nil {
			t.Fatal(h.err)
		}
	}
	if dials != 1 {
		t.Errorf("%d connections for 20 requests", dials)
	}
}

// A server that never stops must not fill the memory.
func TestAnEndlessAnswerIsEnded(t *testing.T) {
	var sent atomic.Int64
	event := []byte(events(says(strings.Repeat("x", 1<<20))))
	s := llmtest.NewServer(t, llmtest.Turn{Handler: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			n, err := w.Write(event)
			sent.Add(int64(n))
			if err != nil {
				return // the client has left
			}
		}
	}})
	got := 0
	var failed *llm.Error
	for d, err := range client(t, s.URL()).Stream(t.Context(), hello()) {
		got += len(d.Text)
		if err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
	}
	if failed == nil || failed.Kind != llm.Refused || !strings.Contains(failed.Message, "128 MB") {
		t.Errorf("the error is %v", failed)
	}
	if got > maxAnswer || sent.Load() < maxAnswer {
		t.Errorf("%d bytes came of %d that were sent", got, sent.Load())
	}
}
