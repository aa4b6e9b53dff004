package local

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

// tryTime is how long a server may take for an answer of one token. A busy server takes
// longer and counts as able to call tools.
const tryTime = 1500 * time.Millisecond

// tiny returns a request with a tool whose answer is one token.
func tiny(model string) map[string]any {
	return map[string]any{
		"model": model, "max_tokens": 1,
		"messages": []map[string]string{{"role": "user", "content": "hi"}},
		"tools": []map[string]any{{"type": "function", "function": map[string]any{
			"name": "nothing", "description": "does nothing",
			"parameters": map[string]any{"type": "object", "properties": map[string]any{}},
		}}},
	}
}

// RefusesTools tries whether a server takes a request with tools at all. llama.cpp and
// vLLM only do if they were started so, and report it nowhere else; they hold their
// model in memory, so this is quick. It returns the server's message; empty if it takes
// tools, or if that is unknown.
func RefusesTools(ctx context.Context, address, model string) (why string) {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	resp, err := post(ctx, strings.TrimRight(address, "/")+"/chat/completions", tiny(model))
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil || resp.StatusCode < 400 {
		return ""
	}
	var said struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
		Message string `json:"message"` // of older versions of vLLM
	}
	if json.Unmarshal(body, &said) != nil {
		return ""
	}
	text := said.Error.Message + said.Message
	if lower := strings.ToLower(text); !strings.Contains(lower, "tool") && !strings.Contains(lower, "jinja") {
		return "" // the refusal has another reason
	}
	return text
}

// client follows no redirect: the answer must come from the server that was asked.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// post sends body as JSON.
func post(ctx context.Context, address string, body any) (*http.Response, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return client.Do(req)
}
