package openai

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/llm/openai/wire"
)

const (
	userAgent = "agent"
	// maxErrorBody limits how much of an error's body is read, in bytes.
	maxErrorBody = 64 << 10
	// drainTime is how long a finished stream may take to close, so that its
	// connection can be used again.
	drainTime = 50 * time.Millisecond
)

// reply is the answer to one request. It must be closed.
type reply struct {
	*wire.Events
	body   io.ReadCloser
	cancel context.CancelCauseFunc // ends the request
}

// send posts q and returns the reply if its status is one of success. cancel ends the
// request.
func (c *Client) send(ctx context.Context, key string, q query, cancel context.CancelCauseFunc) (*reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.opt.BaseURL+"/chat/completions", nil)
	if err != nil {
		return nil, err
	}
	if err := c.setBody(req, q); err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Cache-Control", "no-cache")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := c.do(req)
	if err != nil {
		return nil, err
	}
	events, err := c.events(resp.Body)
	if err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	return &reply{Events: events, body: resp.Body, cancel: cancel}, nil
}

// setBody sets the request's body. The encoded messages come last and are not copied,
// so each request begins with the bytes of the previous one.
func (c *Client) setBody(req *http.Request, q query) error {
	head, err := c.head(q.tools)
	if err != nil {
		return err
	}
	pieces := net.Buffers{head}
	pieces = append(pieces, q.messages...)
	pieces = append(pieces, []byte("]}"))
	req.ContentLength = 0
	for _, p := range pieces {
		req.ContentLength += int64(len(p))
	}
	req.GetBody = func() (io.ReadCloser, error) {
		rest := slices.Clone(pieces) // reading uses it up
		return io.NopCloser(&rest), nil
	}
	req.Body, err = req.GetBody()
	return err
}

// head returns the request's body up to its first message: go-openai's request, the
// parameters that it cannot express beside it, and the encoded tools.
func (c *Client) head(tools []byte) ([]byte, error) {
	built, err := json.Marshal(goopenai.ChatCompletionRequest{
		Model:         c.opt.Model,
		Stream:        true,
		StreamOptions: &goopenai.StreamOptions{IncludeUsage: true},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	var fields map[string]any
	if err := json.Unmarshal(built, &fields); err != nil {
		return nil, fmt.Errorf("reading the request back: %w", err)
	}
	p := c.opt.Params
	if p.Temperature != nil {
		fields["temperature"] = *p.Temperature // go-openai leaves a zero out
	}
	if p.MaxTokens > 0 {
		fields[limitName(c.base)] = p.MaxTokens
	}
	maps.Copy(fields, p.Extra)
	maps.DeleteFunc(fields, func(key string, value any) bool {
		return value == nil || key == "messages" || key == "tools"
	})
	head, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("encoding the request's parameters: %w", err)
	}
	head = head[:len(head)-1]
	if len(tools) > 0 {
		head = append(append(head, `,"tools":`...), tools...)
	}
	return append(head, `,"messages":[`...), nil
}

// limitName returns the server's name for the limit of an answer: OpenAI refuses the
// old name, and other servers do not know the new one.
func limitName(base *url.URL) string {
	host := base.Hostname()
	if host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com") {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// do sends req with our headers and returns the response if its status is one of
// success.
func (c *Client) do(req *http.Request) (*http.Response, error) {
	req.Header.Set("User-Agent", userAgent)
	for key, value := range c.opt.Headers {
		req.Header.Set(key, value)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return resp, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	said := wire.ParseError(body)
	said.Status = resp.StatusCode
	fail := c.reporter().serverFailure(said, wire.RetryAfter(resp.Header, c.opt.Clock.Now()))
	return nil, errors.Join(fail, err, resp.Body.Close())
}

// events returns the events of a successful response. The first byte tells a stream
// from a single answer, from an error that the server calls success, and from a web
// page.
func (c *Client) events(src io.Reader) (*wire.Events, error) {
	r := wire.NewReader(src)
	first, err := firstByte(r)
	if err != nil {
		return nil, err // also of an empty answer
	}
	if first != '{' && first != '[' && first != '<' {
		return wire.NewEvents(r), nil
	}
	if first == '<' {
		page, err := io.ReadAll(io.LimitReader(r, maxErrorBody))
		return nil, errors.Join(c.reporter().pageFailure(page), err)
	}
	body, err := io.ReadAll(io.LimitReader(r, wire.MaxEvent))
	if err != nil {
		return nil, err
	}
	var answer struct {
		Choices []json.RawMessage `json:"choices"`
	}
	if json.Unmarshal(body, &answer) == nil && len(answer.Choices) > 0 {
		return wire.SingleEvent(body), nil
	}
	return nil, c.reporter().serverFailure(wire.ParseError(body), 0)
}

// firstByte returns the first byte that is not white space or a byte order mark,
// and leaves it to be read.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.Peek(1)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = wire.ErrUnfinished
			}
			return 0, err
		}
		if !strings.ContainsRune(" \t\r\nï»¿", rune(b[0])) { // the last three: the mark's bytes
			return b[0], nil
		}
		if _, err := r.Discard(1); err != nil {
			return 0, err
		}
	}
}

// Close reads on after the end mark, for a moment, so that the connection can be
// used again.
func (r *reply) Close() error {
	if r.Done() {
		timer := time.AfterFunc(drainTime, crash.Guarded(func() { r.cancel(nil) }))
		defer timer.Stop()
		if _, err := io.CopyN(io.Discard, r.body, maxErrorBody); err != nil && !errors.Is(err, io.EOF) {
			return errors.Join(err, r.body.Close())
		}
	}
	return r.body.Close()
}

// checkRedirect follows a redirect only to the same host, encrypted as before, and with
// the same request. Any other redirect would send the key or the conversation to a host
// that the user did not name, or lose the request's body.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case len(via) >= 5:
		return &redirectError{to: req.URL.Redacted(), why: "again and again"}
	case req.URL.Host != first.URL.Host:
		return &redirectError{to: req.URL.Redacted(), why: "to another host"}
	case first.URL.Scheme == "https" && req.URL.Scheme != "https":
		return &redirectError{to: req.URL.Redacted(), why: "to an unencrypted address"}
	case req.Method != first.Method:
		return &redirectError{to: req.URL.Redacted(), why: "in a way that loses the request"}
	}
	return nil
}

// redirectError reports a redirect that was not followed.
type redirectError struct{ to, why string }

func (e *redirectError) Error() string { return "redirected " + e.why + ", " + e.to }
