//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// cacheMarker is the member that marks the end of what Anthropic's servers cache.
const cacheMarker = `,"cache_control":{"type":"ephemeral"}`

// prefixCache counts tokens as a provider does that caches beginnings of requests: those
// that a marker ends or, if automatic, any.
type prefixCache struct {
	automatic bool

	mu     sync.Mutex
	stored []string
}

// bytesPerToken is the provider's; the least that it caches, and its step, in bytes.
const (
	bytesPerToken = 4
	leastCached   = 1024 * bytesPerToken
	cacheStep     = 128 * bytesPerToken
)

// use returns the counts of a request, and caches it.
func (c *prefixCache) use(t *testing.T, body []byte) *llmtest.Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := inOrder(t, body)
	plain := strings.ReplaceAll(text, cacheMarker, "")
	read, written := 0, 0
	if c.automatic {
		for _, old := range c.stored {
			read = max(read, commonPrefix(old, plain)/cacheStep*cacheStep)
		}
		c.stored = append(c.stored, plain)
	} else {
		for at, rest := 0, text; ; {
			before, after, found := strings.Cut(rest, cacheMarker)
			if !found {
				break
			}
			at, rest = at+len(before), after
			if slices.Contains(c.stored, plain[:at]) {
				read = at
			} else {
				c.stored = append(c.stored, plain[:at])
			}
			written = at - read
		}
	}
	if read < leastCached {
		read = 0
	}
	return &llmtest.Usage{Input: len(plain) / bytesPerToken, Cached: read / bytesPerToken, Written: written / bytesPerToken, Output: 50}
}

// inOrder returns the parts of a request as providers order them.
func inOrder(t *testing.T, body []byte) string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		t.Error(err)
	}
	var b strings.Builder
	for _, name := range []string{"tools", "system", "instructions", "messages", "input"} {
		b.Write(bytes.TrimSuffix(fields[name], []byte("]")))
	}
	return b.String()
}

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// rounds is how many requests a session here has, in two prompts of two processes.
const rounds = 20

// cached runs a session over a wire, in which the editor's state is new before each
// request. It returns the requests, the cost in USD, and the saving by the cache.
func cached(t *testing.T, automatic bool, wire, settings, options string) (requests [][]byte, cost, saved float64) {
	cache := &prefixCache{automatic: automatic}
	files := map[string]string{".git/HEAD": "ref: refs/heads/main\n"}
	for n := range rounds {
		files[fmt.Sprintf("f%d.txt", n)] = strings.Repeat(fmt.Sprintf("line of the file %d\n", n), 200)
	}
	var e *idetest.Editor
	var d *desk
	// An error is there for two requests: neither waits long for the editor.
	find := func(last int) {
		var all []idetest.Finding
		for n := max(last-1, 0); n <= last; n++ {
			all = append(all, idetest.Finding{Path: filepath.Join(d.folder(), "f0.txt"), Line: 1, Severity: "Error", Message: fmt.Sprintf("error %d", n)})
		}
		e.World.Find(true, all...)
	}
	server := llmtest.NewServerFunc(t, func(n int, body []byte) llmtest.Turn {
		find(n + 1)
		usage := cache.use(t, body)
		if n%(rounds/2) == rounds/2-1 {
			return llmtest.Turn{Text: "I have read them.", Usage: usage}
		}
		return llmtest.Turn{Usage: usage, Calls: []llmtest.Call{{Name: "read_file", Args: fmt.Sprintf(`{"path":"f%d.txt"}`, n)}}}
	})
	d = newDesk(t, server, files)
	e = d.editor(idetest.Ours())
	e.World.Open(filepath.Join(d.folder(), "f0.txt"), idetest.Document{Active: true})
	find(0)
	prices := "price_input: 3, price_output: 15, price_cached: 0.3, price_cache_write: 3.75"
	if automatic {
		prices = "price_input: 1.25, price_output: 10, price_cached: 0.125"
	}
	d.keep("config.yaml", settings+`
providers:
  mine:
    base_url: `+server.URL()+`
    wire: `+wire+`
    models:
      large: {`+prices+options+`}
`)
	d.keep("servers.json", `[{"address":"`+server.URL()+`","provider":"mine"}]`)
	for _, more := range []string{"--ide", "--continue"} {
		code, out := d.command("-p", "read them", "--model", "mine/large", "--output-format", "json", "--ide", more)
		var result struct {
			Cost  float64 `json:"cost_usd"`
			Saved float64 `json:"cache_saved_usd"`
		}
		if err := json.Unmarshal([]byte(out), &result); err != nil || code != 0 {
			t.Fatalf("exit status %d, %v: %s", code, err, out)
		}
		cost, saved = cost+result.Cost, saved+result.Saved
		d.write("written.txt", "between the prompts")
		d.write(".git/HEAD", "ref: refs/heads/another\n")
	}
	if len(server.Requests()) != rounds {
		t.Fatalf("%d requests", len(server.Requests()))
	}
	return server.Requests(), cost, saved
}

// Over each wire, a request begins with the bytes of the one before up to its last cache
// marker, although the editor's state changes before each, and another process, with a
// new file and another branch, continues the session. The markers themselves move. The
// test logs the savings.
func TestRequestsBeginAsTheOneBefore(t *testing.T) {
	t.Parallel()
	_, uncachedCost, _ := cached(t, false, "chat", "ide: {context: system}", ", cache_markers: false")
	_, systemCost, _ := cached(t, true, "chat", "ide: {context: system}", "")
	for _, c := range []struct {
		wire, options string
		automatic     bool
		before        float64
	}{
		{"anthropic", "", false, uncachedCost},
		{"chat", ", cache_markers: true", false, uncachedCost},
		{"chat", "", true, systemCost},
		{"responses", "", true, systemCost},
	} {
		t.Run(c.wire+c.options, func(t *testing.T) {
			requests, cost, saved := cached(t, c.automatic, c.wire, "", c.options)
			for n, body := range requests[1:] {
				last := bytes.TrimSuffix(requests[n], []byte("]}"))
				if at := bytes.LastIndex(last, []byte(cacheMarker)); at >= 0 {
					last = last[:at]
				}
				last, now := bytes.ReplaceAll(last, []byte(cacheMarker), nil), bytes.ReplaceAll(body, []byte(cacheMarker), nil)
				if !bytes.HasPrefix(now, last) {
					at := commonPrefix(string(last), string(now))
					t.Fatalf("request %d differs from the one before at byte %d of %d: %.80q, %.80q", n+1, at, len(last), last[at:], now[at:])
				}
			}
			for n := range rounds - 1 {
				if want := fmt.Sprintf(`: error %d\n`, n); !strings.Contains(string(requests[rounds-1]), want) {
					t.Errorf("the model was not told %q", want)
				}
			}
			if last := string(requests[rounds-1]); !strings.Contains(last, "The Git branch is now another.") {
				t.Error("the model was not told the branch")
			}
			t.Logf("%s%s: $%.4f before, $%.4f now", c.wire, c.options, c.before, cost)
			if cost > c.before/2 || saved < c.before/2 {
				t.Errorf("it costs $%.4f, $%.4f before; saved, it says, $%.4f", cost, c.before, saved)
			}
		})
	}
}

// With cache_ttl: 1h every marker asks for an hour, and writing costs twice the
// price of input. A server that does not know the time refuses it once.
func TestCacheForAnHour(t *testing.T) {
	t.Parallel()
	const marker = `"cache_control":{"ttl":"1h","type":"ephemeral"}`
	for _, c := range []struct {
		name, wire, options string
		knows               bool
		usage               llmtest.Usage
		markers             int
		cost                float64
	}{
		{"Messages", "anthropic", "", true, llmtest.Usage{Input: 100_000, Cached: 40_000, Written: 50_000, WrittenHour: 50_000, Output: 1000}, 3, 0.03 + 0.012 + 0.3 + 0.015},
		{"Messages, in part", "anthropic", "", true, llmtest.Usage{Input: 100_000, Cached: 40_000, Written: 50_000, WrittenHour: 30_000, Output: 1000}, 3, 0.03 + 0.012 + 0.18 + 0.075 + 0.015},
		{"Messages, refused", "anthropic", "", false, llmtest.Usage{Input: 100_000, Cached: 40_000, Written: 50_000, Output: 1000}, 0, 0.03 + 0.012 + 0.1875 + 0.015},
		{"chat", "chat", ", cache_markers: true", true, llmtest.Usage{Input: 100_000, Cached: 40_000, Written: 50_000, Output: 1000}, 2, 0.03 + 0.012 + 0.3 + 0.015},
		{"chat, refused", "chat", ", cache_markers: true", false, llmtest.Usage{Input: 100_000, Cached: 40_000, Written: 50_000, Output: 1000}, 0, 0.03 + 0.012 + 0.1875 + 0.015},
	} {
		t.Run(c.name, func(t *testing.T) {
			refused := 0
			server := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
				if !c.knows && bytes.Contains(body, []byte(`"ttl"`)) {
					refused++
					return llmtest.Raw(400, "application/json", `{"error":{"type":"invalid_request_error","message":"messages.0.content.0.cache_control.ttl: Extra inputs are not permitted"}}`)
				}
				return llmtest.Turn{Text: "Hello.", Usage: &c.usage}
			})
			d := newDesk(t, server, nil)
			d.keep("config.yaml", `
providers:
  mine:
    base_url: `+server.URL()+`
    wire: `+c.wire+`
    models:
      large: {price_input: 3, price_output: 15, price_cached: 0.3, price_cache_write: 3.75, cache_ttl: 1h`+c.options+`}
`)
			d.keep("servers.json", `[{"address":"`+server.URL()+`","provider":"mine"}]`)
			for range 2 {
				code, out := d.prompted("--model", "mine/large", "--output-format", "json")
				var result struct {
					Cost float64 `json:"cost_usd"`
				}
				if err := json.Unmarshal([]byte(out), &result); err != nil || code != 0 {
					t.Fatalf("exit status %d, %v: %s", code, err, out)
				}
				if math.Abs(result.Cost-c.cost) > 1e-9 {
					t.Errorf("it costs $%.6f, want $%.6f", result.Cost, c.cost)
				}
			}
			if !c.knows && refused != 1 {
				t.Errorf("%d refusals", refused)
			}
			last := server.Requests()[len(server.Requests())-1]
			text := strings.ReplaceAll(string(last), `"cache_control":{"type":"ephemeral","ttl":"1h"}`, marker)
			if n := strings.Count(text, marker); n != c.markers || c.knows && strings.Count(text, "cache_control") != n {
				t.Errorf("%d markers for an hour, want %d: %s", n, c.markers, text)
			}
		})
	}
}
