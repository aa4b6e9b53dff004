package mcp

import (
	"errors"
	"net/http"
	"net/url"
)

// httpClient returns the client of the server's address. The configured headers, which may
// hold a key, go to that host alone.
func (s *server) httpClient() *http.Client {
	return &http.Client{
		Transport: headers{host: hostOf(s.URL), set: s.Headers},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme {
				return errors.New("it redirects to another host: " + req.URL.Host)
			}
			if len(via) > 3 {
				return errors.New("it redirects too often")
			}
			return nil
		},
	}
}

// headers adds headers to the requests to one host.
type headers struct {
	host string
	set  map[string]string
}

// RoundTrip implements http.RoundTripper.
func (h headers) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host == h.host && len(h.set) > 0 {
		req = req.Clone(req.Context())
		for name, value := range h.set {
			req.Header.Set(name, value)
		}
	}
	return http.DefaultTransport.RoundTrip(req)
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
