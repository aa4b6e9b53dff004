package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bb2d0cf4/agent/internal/dev/mcptest"
	"github.com/bb2d0cf4/agent/internal/mcp"
)

// flat fails the test if f makes the heap grow by more than limit bytes.
func flat(t *testing.T, limit uint64, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if after.HeapSys > before.HeapSys+limit {
		t.Errorf("the heap grew by %d MB", (after.HeapSys-before.HeapSys)>>20)
	}
}

// serve serves HTTP until the test ends.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return s.URL
}

// TestFlood: a server that floods us with notifications and prints without end costs no
// memory, and its calls work.
func TestFlood(t *testing.T) {
	d := start(t, program("a"))
	flat(t, 48<<20, func() {
		if got := d.call("mcp__a__storm", `{}`); got != "calm" {
			t.Errorf("got %q", got)
		}
	})
	d.Settle(t.Context())
	if len(d.notes) > 0 {
		t.Errorf("told %q", d.notes)
	}
}

// TestEndlessBodies: an answer without an end is refused at a bound.
func TestEndlessBodies(t *testing.T) {
	chunk := strings.Repeat("x", 1<<20)
	for name, begin := range map[string]func(http.ResponseWriter){
		"JSON": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"x":"`)
		},
		"error": func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadRequest) },
		"event": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: ")
		},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				for begin(w); r.Context().Err() == nil; {
					if _, err := io.WriteString(w, chunk); err != nil {
						return
					}
				}
			})
			flat(t, 200<<20, func() {
				d := start(t, mcp.Server{Name: "a", URL: url})
				if s := d.Status()[0]; s.State != mcp.Failed {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// TestLoris: a server that begins an answer and never ends it delays neither the end of a
// cancelled wait nor Close.
func TestLoris(t *testing.T) {
	for _, header := range []bool{false, true} {
		asked := make(chan struct{}, 100)
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // so that it notices the end of the client
			if header {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, "{")
				_ = http.NewResponseController(w).Flush()
			}
			asked <- struct{}{}
			<-r.Context().Done()
		})
		d := mcp.New(mcp.Options{Logs: t.TempDir()}, []mcp.Server{{Name: "a", URL: url}})
		d.Start(t.Context(), nil)
		<-asked
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		d.Settle(ctx)
		began := time.Now()
		d.Close()
		if took := time.Since(began); took > 20*time.Second { // the SDK may take 5 to end a connection
			t.Errorf("Close took %s", took)
		}
	}
}

// TestRefused: a 401 that names another host, or redirects there, makes no request to it.
func TestRefused(t *testing.T) {
	var reached atomic.Int32
	other := serve(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusFound, http.StatusPermanentRedirect} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Www-Authenticate", `Bearer resource_metadata="`+other+`/.well-known/oauth-protected-resource"`)
			w.Header().Set("Location", other)
			w.WriteHeader(status)
		})
		d := start(t, mcp.Server{Name: "a", URL: url, Headers: map[string]string{"Authorization": "Bearer secret"}})
		if s := d.Status()[0]; s.State != mcp.Failed {
			t.Errorf("%d: %+v", status, s)
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("the other host got %d requests", n)
	}
}

// TestEndlessList: a list of tools whose pages never end is given up.
func TestEndlessList(t *testing.T) {
	s := mcptest.New()
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method != "tools/list" {
				return next(ctx, method, req)
			}
			return &sdk.ListToolsResult{Tools: []*sdk.Tool{}, NextCursor: "more"}, nil
		}
	})
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	d := start(t, mcp.Server{Name: "a", URL: serve(t, h.ServeHTTP)})
	if s := d.Status()[0]; s.State != mcp.Failed || !strings.Contains(s.Why, "more than 100 pages") {
		t.Errorf("%+v", s)
	}
}

// TestChangesAreListedOnce: a server that says without end that its tools have changed is
// asked for them once at each Settle.
func TestChangesAreListedOnce(t *testing.T) {
	s := mcptest.New()
	var lists atomic.Int32
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method == "tools/list" {
				lists.Add(1)
			}
			return next(ctx, method, req)
		}
	})
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	d := start(t, mcp.Server{Name: "a", URL: serve(t, h.ServeHTTP)})
	for range 50 {
		d.call("mcp__a__grow", `{}`)
	}
	d.Settle(t.Context())
	if n := lists.Load(); n > 2 {
		t.Errorf("the tools were listed %d times", n)
	}
	if _, err := d.Call(t.Context(), d.tool("mcp__a__echo"), json.RawMessage(`{"text":"x"}`)); err != nil {
		t.Error(err)
	}
}
