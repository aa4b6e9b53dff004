package mcp

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"

	"github.com/bb2d0cf4/agent/internal/peer"
)

// httpClient returns the client of the server's address. The configured headers, which may
// hold a key, and the token of a login go to that host alone. kept is nil without a login.
func (s *server) httpClient(kept *keeper) *http.Client {
	return &http.Client{
		Transport:     headers{via: s.via, host: hostOf(s.URL), set: s.Headers, kept: kept, stray: s.strayEvent},
		CheckRedirect: sameHost,
	}
}

// proxyOf returns the proxy of the environment for an address, without a password; "" for none.
// Addresses of this machine have none.
func proxyOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	proxy, err := peer.Proxy(&http.Request{URL: u})
	if err != nil || proxy == nil {
		return "" // an error fails the connection
	}
	return proxy.Scheme + "://" + proxy.Host
}

// hasKey reports whether the configuration names the key for the server.
func (s Server) hasKey() bool {
	for name := range s.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return true
		}
	}
	return false
}

// sameHost refuses redirects to another host.
func sameHost(req *http.Request, via []*http.Request) error {
	if req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme {
		return errors.New("it redirects to another host: " + req.URL.Host)
	}
	if len(via) > 3 {
		return errors.New("it redirects too often")
	}
	return nil
}

// newTransport returns a transport that inspects each connection before it sends anything;
// dialed may be nil.
func newTransport(dialed func(net.Conn) error) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone() //nolint:errcheck,forcetypeassert // of net/http
	t.Proxy = peer.Proxy
	t.DialContext = peer.CheckedDial(t.DialContext, dialed)
	return t
}

// headers adds headers to the requests to one host.
type headers struct {
	via  http.RoundTripper
	host string
	set  map[string]string
	kept *keeper // nil without a login
	// stray gets the data of an event that is no message.
	stray func(data []byte)
}

// RoundTrip implements http.RoundTripper.
func (h headers) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host == h.host {
		var err error
		if req, err = h.add(req); err != nil {
			return nil, err
		}
	}
	resp, err := h.via.RoundTrip(req)
	switch {
	case err != nil:
	case isStream(resp):
		resp.Body = newEvents(resp.Body, h.stray)
	default:
		resp.Body = &boundedBody{ReadCloser: resp.Body, left: maxMessage}
	}
	return resp, err
}

// add returns req with the headers. If it fails, it closes the body.
func (h headers) add(req *http.Request) (*http.Request, error) {
	out := req.Clone(req.Context())
	for name, value := range h.set {
		out.Header.Set(name, value)
	}
	if h.kept == nil {
		return out, nil
	}
	t, err := h.kept.token(req.Context())
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // the error says more
		}
		return nil, err
	}
	t.SetAuthHeader(out)
	return out, nil
}

// isStream reports whether a response is a stream of events.
func isStream(resp *http.Response) bool {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && kind == "text/event-stream"
}

// boundedBody fails once more than left bytes were read.
type boundedBody struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if n > b.left {
		return b.left, fmt.Errorf("the answer is larger than %d MB", maxMessage>>20)
	}
	b.left -= n
	return n, err
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
