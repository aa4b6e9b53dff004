package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
)

const (
	userAgent = "agent"
	// maxErrorBody is how much of an error's body is read.
	maxErrorBody = 64 << 10
	// drainTime is how long a finished stream may take to close, so that its
	// connection can be used again.
	drainTime = 50 * time.Millisecond
)

// reply is the answer to one request. It must be closed.
type reply struct {
	*Events
	body   io.ReadCloser
	cancel context.CancelCauseFunc // ends the request
	free   func()                  // gives the buffer to the next reply
}

// send posts r and returns the reply if its status is 2xx. It calls alive whenever a part of
// the reply arrives. cancel ends the request.
func (c *Client) send(ctx context.Context, key string, r Request, alive func(), cancel context.CancelCauseFunc) (*reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.opt.BaseURL+r.Path, nil)
	if err != nil {
		return nil, err
	}
	if err := r.fill(req); err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Cache-Control", "no-cache")
	c.opt.Authorize(req.Header, key)
	resp, err := c.do(req)
	if err != nil {
		return nil, err
	}
	in := c.reader(living{resp.Body, alive})
	events, err := c.events(in)
	if err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	return &reply{Events: events, body: resp.Body, cancel: cancel, free: func() { c.readers.Put(in) }}, nil
}

// living is a reader that calls alive when something arrives.
type living struct {
	io.Reader
	alive func()
}

// Read implements io.Reader.
func (l living) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if n > 0 {
		l.alive()
	}
	return n, err
}

// reader returns a reader of src with the buffer of an earlier one, if any.
func (c *Client) reader(src io.Reader) *bufio.Reader {
	in, ok := c.readers.Get().(*bufio.Reader)
	if !ok {
		return NewReader(src)
	}
	in.Reset(&lineEnds{src: src})
	return in
}

// fill sets the body of req. The pieces are not copied.
func (r Request) fill(req *http.Request) (err error) {
	req.ContentLength = 0
	for _, p := range r.Body {
		req.ContentLength += int64(len(p))
	}
	req.GetBody = func() (io.ReadCloser, error) {
		rest := net.Buffers(slices.Clone(r.Body)) // reading uses it up
		return io.NopCloser(&rest), nil
	}
	req.Body, err = req.GetBody()
	return err
}

// do sends req with our headers and returns the response if its status is 2xx.
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
	said := ParseServerError(body)
	said.Status = resp.StatusCode
	fail := c.reporter().serverFailure(said, RetryAfter(resp.Header, c.opt.Clock.Now()))
	return nil, errors.Join(fail, err, resp.Body.Close())
}

// events returns the events of a successful response. The first byte tells a stream
// from a single answer, from an error that the server calls success, and from a web
// page.
func (c *Client) events(r *bufio.Reader) (*Events, error) {
	first, err := firstByte(r)
	if err != nil {
		return nil, err // also of an empty answer
	}
	if first != '{' && first != '[' && first != '<' {
		return NewEvents(r), nil
	}
	if first == '<' {
		page, err := io.ReadAll(io.LimitReader(r, maxErrorBody))
		return nil, errors.Join(c.reporter().pageFailure(page), err)
	}
	body, err := io.ReadAll(io.LimitReader(r, MaxEvent))
	if err != nil {
		return nil, err
	}
	var answer struct {
		Choices []json.RawMessage `json:"choices"`
		Type    string            `json:"type"`
	}
	if json.Unmarshal(body, &answer) == nil && (len(answer.Choices) > 0 || answer.Type != "") {
		return SingleEvent(body), nil
	}
	return nil, c.reporter().serverFailure(ParseServerError(body), 0)
}

// firstByte returns the first byte that is not white space or a byte order mark,
// and leaves it to be read.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.Peek(1)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = ErrUnfinished
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

// Close reads what follows the end mark, for a moment, so that the connection can be
// used again.
func (r *reply) Close() error {
	defer r.free()
	if r.Done() {
		timer := time.AfterFunc(drainTime, crash.Guarded(func() { r.cancel(nil) }))
		defer timer.Stop()
		if _, err := io.CopyN(io.Discard, r.body, maxErrorBody); err != nil && !errors.Is(err, io.EOF) {
			return errors.Join(err, r.body.Close())
		}
	}
	return r.body.Close()
}

// checkRedirect follows a redirect only on the same host, encrypted as before, and with
// the same request. Anything else would send the key or the conversation to a host that
// the user did not name, or lose the request's body.
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
