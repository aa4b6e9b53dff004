// Package openai implements llm.Model with the chat completions protocol, as many
// servers speak it. It guarantees that an answer that did not end in order is an error,
// that a tool call is delivered only if it is complete and as the model wrote it, that
// nothing is sent twice once a part of the answer was delivered, that the key only goes
// to the configured host, and that a request begins with the bytes of the previous one,
// encoded once.
package openai

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// The defaults of Options.
const (
	DefaultBaseURL     = "https://api.openai.com/v1"
	DefaultIdle        = 120 * time.Second
	DefaultTotal       = 30 * time.Minute
	DefaultMaxAttempts = 6
)

// Options configures a provider and one of its models.
type Options struct {
	Name    string // provider/name, as the user writes it
	Model   string // as the server knows it
	BaseURL string // without /chat/completions; empty: DefaultBaseURL
	// Key returns the API key; a nil Key or an empty string means none. It is called
	// before the first request, and again after the server refused the key.
	Key           func(ctx context.Context) (string, error)
	Headers       map[string]string // sent with every request; they replace our own
	ContextWindow int64             // tokens; zero if not known
	Prices        Prices
	Free          bool // see llm.Info
	Params        Params
	Limits        Limits
	Clock         Clock
	// Transport carries the requests. Nil means a transport that keeps connections open
	// and honours the proxy variables of the environment.
	Transport http.RoundTripper
	// Check may refuse a new connection before anything is sent over it. It is not
	// called with a Transport.
	Check func(net.Conn) error
}

// Prices are in USD per million tokens. If Cached is zero, cached input costs Input.
type Prices struct{ Input, Output, Cached float64 }

// Params are the parameters of a request beside the conversation.
type Params struct {
	MaxTokens   int // of the answer; zero: the server's own limit
	Temperature *float64
	Extra       map[string]any // merged into the request's body; it replaces our own
}

// Limits limits a request. Zero means the default.
type Limits struct {
	Idle        time.Duration // without any part of the answer
	Total       time.Duration // for one attempt
	MaxAttempts int           // including the first
}

// Clock provides time and randomness; tests replace it. Nil fields mean the real ones.
type Clock struct {
	Sleep func(ctx context.Context, d time.Duration) error // ends early with ctx's error
	Now   func() time.Time
	Rand  func() float64 // in [0, 1)
}

// Client implements llm.Model. Several goroutines may use it.
type Client struct {
	opt  Options
	base *url.URL // nil if the base URL is invalid
	http *http.Client
	key  key
	conv conversation
}

var _ llm.Model = (*Client)(nil)

// New returns a client without connecting. An invalid base URL fails the first request.
func New(opt Options) *Client {
	if opt.BaseURL == "" {
		opt.BaseURL = DefaultBaseURL
	}
	opt.BaseURL = strings.TrimRight(opt.BaseURL, "/")
	if opt.Limits.Idle <= 0 {
		opt.Limits.Idle = DefaultIdle
	}
	if opt.Limits.Total <= 0 {
		opt.Limits.Total = DefaultTotal
	}
	if opt.Limits.MaxAttempts <= 0 {
		opt.Limits.MaxAttempts = DefaultMaxAttempts
	}
	opt.Clock = opt.Clock.orReal()
	if opt.Transport == nil {
		opt.Transport = newTransport(opt.Check)
	}
	c := &Client{
		opt: opt, http: &http.Client{Transport: opt.Transport, CheckRedirect: checkRedirect},
		key: key{read: opt.Key, other: secretsIn(opt.Headers)},
	}
	if u, err := url.Parse(opt.BaseURL); err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
		c.base = u
	}
	return c
}

// Info implements llm.Model.
func (c *Client) Info() llm.Info {
	return llm.Info{Name: c.opt.Name, ContextWindow: c.opt.ContextWindow, Free: c.opt.Free}
}

func (k Clock) orReal() Clock {
	if k.Sleep == nil {
		k.Sleep = sleep
	}
	if k.Now == nil {
		k.Now = time.Now
	}
	if k.Rand == nil {
		k.Rand = rand.Float64
	}
	return k
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// newTransport returns a transport for long streams: without a limit on the whole
// request, and with pings that detect a dead HTTP/2 connection. check may be nil; see
// Options.Check.
func newTransport(check func(net.Conn) error) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil || check == nil {
			return conn, err
		}
		if err := check(conn); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return conn, nil
	}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dial,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:   true,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 20 * time.Second, PingTimeout: 15 * time.Second},
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		MaxIdleConnsPerHost: 4,
		DisableCompression:  true, // a compressed stream arrives in lumps
		ReadBufferSize:      32 << 10,
		WriteBufferSize:     64 << 10,
	}
}
