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

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/llm/openai/wire"
)

const (
	userAgent = "agent"
	// alias stands for the model in what go-openai sees: it refuses parameters
	// by the name of a model, whatever server that model is on.
	alias = "model"
	// maxErrorBody is how much of an error's body is read.
	maxErrorBody = 64 << 10
	// drainTime is how long a finished stream may take to close, so that its
	// connection can be used again.
	drainTime = 50 * time.Millisecond
)

// doer carries one attempt at one query. It puts the encoded conversation into
// the request that go-openai built, and turns the answer into a stream that
// go-openai reads without loss.
type doer struct {
	client *Client
	query  query
	cancel context.CancelCauseFunc // gives the attempt up
	body   *wire.Body              // once there is an answer
}

// Do implements go-openai's HTTPDoer.
func (d *doer) Do(req *http.Request) (*http.Response, error) {
	if err := d.fillBody(req); err != nil {
		return nil, err
	}
	resp, err := d.client.do(req)
	if err != nil {
		return nil, err
	}
	d.body, err = d.read(resp.Body)
	if err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	resp.Body = &stream{Body: d.body, src: resp.Body, cancel: d.cancel}
	return resp, nil
}

// fillBody replaces the request's body by the whole one. The messages come last
// and are not copied, so each request begins with the bytes of the one before.
func (d *doer) fillBody(req *http.Request) error {
	head, err := d.head(req.Body)
	if err != nil {
		return err
	}
	pieces := net.Buffers{head}
	pieces = append(pieces, d.query.messages...)
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

// head returns the request's body up to its first message: what go-openai built,
// the parameters that it cannot express, and the tools.
func (d *doer) head(built io.Reader) ([]byte, error) {
	var fields map[string]any
	if err := json.NewDecoder(built).Decode(&fields); err != nil {
		return nil, fmt.Errorf("reading the request back: %w", err)
	}
	opt := &d.client.opt
	fields["model"] = opt.Model
	if opt.Params.Temperature != nil {
		fields["temperature"] = *opt.Params.Temperature
	}
	if opt.Params.MaxTokens > 0 {
		fields[limitName(d.client.base)] = opt.Params.MaxTokens
	}
	maps.Copy(fields, opt.Params.Extra)
	maps.DeleteFunc(fields, func(key string, value any) bool {
		return value == nil || key == "messages" || key == "tools"
	})
	head, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("encoding the request's parameters: %w", err)
	}
	head = head[:len(head)-1]
	if len(d.query.tools) > 0 {
		head = append(append(head, `,"tools":`...), d.query.tools...)
	}
	return append(head, `,"messages":[`...), nil
}

// limitName is how a server knows the limit of an answer: the first provider
// refuses the old name, and others do not know the new one.
func limitName(base *url.URL) string {
	host := base.Hostname()
	if host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com") {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// do sends req with our headers and returns the response if its status is one
// of success.
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

// read tells by its first byte what a successful answer is: a stream, one
// answer as a whole, or an error that a server calls success.
func (d *doer) read(src io.Reader) (*wire.Body, error) {
	r := wire.NewReader(src)
	first, err := firstByte(r)
	if err != nil {
		return nil, err // also of an empty answer
	}
	if first != '{' && first != '[' && first != '<' {
		return wire.NewBody(r), nil
	}
	if first == '<' {
		page, err := io.ReadAll(io.LimitReader(r, maxErrorBody))
		return nil, errors.Join(d.client.reporter().pageFailure(page), err)
	}
	whole, err := io.ReadAll(io.LimitReader(r, wire.MaxEvent))
	if err != nil {
		return nil, err
	}
	var answer struct {
		Choices []json.RawMessage `json:"choices"`
	}
	if json.Unmarshal(whole, &answer) == nil && len(answer.Choices) > 0 {
		return wire.Whole(whole), nil
	}
	return nil, d.client.reporter().serverFailure(wire.ParseError(whole), 0)
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

// stream is the body that go-openai reads.
type stream struct {
	*wire.Body
	src    io.ReadCloser
	cancel context.CancelCauseFunc
}

// Close reads what follows the end mark, for a moment: then the connection can
// be used again.
func (s *stream) Close() error {
	if s.Done() {
		timer := time.AfterFunc(drainTime, crash.Guarded(func() { s.cancel(nil) }))
		defer timer.Stop()
		if _, err := io.CopyN(io.Discard, s.src, maxErrorBody); err != nil && !errors.Is(err, io.EOF) {
			return errors.Join(err, s.src.Close())
		}
	}
	return s.src.Close()
}

// checkRedirect follows a redirect only on the same host, encrypted as before,
// and with the same request: anything else would send the key or the
// conversation to whom the user did not name, or lose the request's body.
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

// redirectError is a redirect that was not followed.
type redirectError struct{ to, why string }

func (e *redirectError) Error() string { return "redirected " + e.why + ", " + e.to }
