// Package remote implements llm.Model with an HTTP server, whatever protocol that
// speaks. It guarantees that an answer that did not end properly is never
// complete: the request is sent again, or fails; and that the key only goes to the
// configured host.
package remote

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/peer"
)

// The defaults of Options.
const (
	DefaultIdle        = 120 * time.Second
	DefaultTotal       = 30 * time.Minute
	DefaultMaxAttempts = 6
)

// Options configures a provider and one of its models.
type Options struct {
	Name    string // provider/name, as the user writes it
	BaseURL string // without the path of the protocol
	// Key returns the API key; a nil Key or an empty string means none. It is called
	// before the first request, and again after the server refused the key.
	Key func(ctx context.Context) (string, error)
	// Renew returns another key for one that the server refused; nil if a key stays the same. With
	// it Key is called before each request, and a refused request is sent once again.
	Renew func(ctx context.Context, refused string) (string, error)
	// Authorize adds the key to a request; nil means as a bearer token.
	Authorize     func(h http.Header, key string)
	Headers       map[string]string // sent with every request; they replace our own
	ContextWindow int64             // tokens; zero if not known
	Prices        Prices
	Free          bool // see llm.Info
	// Local reports whether the server is near, and its model too: it may read a long prompt
	// for any time before the first part of an answer.
	Local  bool
	Limits Limits
	Clock  Clock
	// Transport carries the requests. Nil means a transport that keeps connections open
	// and honours the proxy variables of the environment.
	Transport http.RoundTripper
	// Check may refuse a new connection before anything is sent over it. It is not
	// called with a Transport.
	Check func(net.Conn) error
}

// Prices are in USD per million tokens. Cached is the price of input that the server
// had cached, Written that of input that it put into its cache; zero means Input.
// Tokens that the cache keeps for an hour cost hourFactor times Input.
type Prices struct{ Input, Output, Cached, Written float64 }

// searchUSD is the price of a search of the web by Anthropic's servers and by OpenAI's.
const searchUSD = 0.01

// hourFactor is Anthropic's, and that of everyone who sells its models.
const hourFactor = 2

// cost returns the cost of u, and how much more it would be without a cache.
func (p Prices) cost(u llm.Usage) (usd, saved float64) {
	full := (float64(u.Input)*p.Input+float64(u.Output)*p.Output)/1e6 + float64(u.Searches)*searchUSD
	saved = (float64(u.Cached)*(p.Input-cmp.Or(p.Cached, p.Input)) + float64(u.Written-u.WrittenHour)*(p.Input-cmp.Or(p.Written, p.Input)) +
		float64(u.WrittenHour)*p.Input*(1-hourFactor)) / 1e6
	return full - saved, saved
}

// Limits limits a request. Zero means the default.
type Limits struct {
	Idle        time.Duration // without a sign of life; doubled after each attempt that reached it
	Total       time.Duration // for one attempt
	MaxAttempts int           // including the first
}

// Clock provides time and randomness; tests replace it. Nil fields mean the real ones.
type Clock struct {
	Sleep func(ctx context.Context, d time.Duration) error // ends early with ctx's error
	Now   func() time.Time
	Rand  func() float64 // in [0, 1)
}

// Protocol encodes requests and decodes answers. Several goroutines may use it.
type Protocol interface {
	// Encode returns the request that asks for an answer.
	Encode(req llm.Request) (Request, error)
	// Answer returns a reader for the answer of one attempt.
	Answer() Answer
	// Learn adapts Encode to a refusal. It reports whether the request is worth
	// another attempt.
	Learn(refusal *llm.Error) bool
}

// bounded is a Protocol of which a request may have only so many tools.
type bounded interface{ MaxTools() int }

// MaxFunctions is how many tools a request may have at OpenAI, and at those who offer its
// protocols.
const MaxFunctions = 128

// Request is an encoded request.
type Request struct {
	Path string   // below the base URL
	Body [][]byte // in pieces, which are not changed
	Size int      // bytes that the model reads, to estimate its tokens
}

// Answer reads the events of one answer.
type Answer interface {
	// Add reads an event. The error is a *ServerError if the server reports one, and
	// io.EOF after the last event.
	Add(event []byte) (Progress, error)
	// Deltas returns the deltas of the events since the last call; the slice is valid
	// until the next call of Add.
	Deltas() []llm.Delta
	// End returns the complete answer once Add has returned Ended. Its Usage is
	// Estimated if the server gave no counts. The last call of Deltas follows it.
	End() *llm.End
}

// OtherForm reports whether err is about JSON of another form than expected, which the events that
// are added to an API may have.
func OtherForm(err error) bool {
	var form *json.UnmarshalTypeError
	return errors.As(err, &form)
}

// Progress is the meaning of an event for the answer.
type Progress int

// The kinds of progress, in their order.
const (
	Nothing Progress = iota // a sign of life
	Part                    // a part of the answer
	Ended                   // the model has ended; only counts may follow
)

// Client implements llm.Model. Several goroutines may use it.
type Client struct {
	opt      Options
	protocol Protocol
	base     *url.URL // nil if the base URL is invalid
	http     *http.Client
	key      key
	readers  sync.Pool // of *bufio.Reader, which finished replies used

	learning sync.Mutex // guards omitted, lessons and the calls of protocol.Learn
	omitted  omissions
	lessons  int // how often a refusal changed the requests
}

var _ llm.Model = (*Client)(nil)

// New returns a client that speaks protocol, without connecting. An invalid base URL
// fails the first request.
func New(opt Options, protocol Protocol) *Client {
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
		opt.Transport = NewTransport(opt.Check)
	}
	if opt.Authorize == nil {
		opt.Authorize = bearer
	}
	c := &Client{
		opt: opt, protocol: protocol, http: &http.Client{Transport: opt.Transport, CheckRedirect: checkRedirect},
		key: key{read: opt.Key, renew: opt.Renew, other: secretsIn(opt.Headers)},
	}
	if p, ok := protocol.(bounded); ok {
		c.omitted.maxTools = p.MaxTools()
	}
	if u, err := url.Parse(opt.BaseURL); err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
		c.base = u
	}
	return c
}

func bearer(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

// Info implements llm.Model.
func (c *Client) Info() llm.Info {
	return llm.Info{Name: c.opt.Name, ContextWindow: c.opt.ContextWindow, Free: c.opt.Free, InputUSD: c.opt.Prices.Input}
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

// NewTransport returns a transport for long streams: without a limit on the whole
// request, and with pings that detect a dead HTTP/2 connection. check may be nil; see
// Options.Check.
func NewTransport(check func(net.Conn) error) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:               peer.Proxy,
		DialContext:         peer.CheckedDial(dialer.DialContext, check),
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
