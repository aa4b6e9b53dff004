package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// resourcePath begins the path of metadata about a resource.
const resourcePath = "/.well-known/oauth-protected-resource"

// loginFlow is the authorization of a login. The SDK begins it again after each refusal, with
// another page for the person: only if the server wants further rights is that of use.
type loginFlow struct {
	auth.OAuthHandler
	check *loginTransport

	begun bool   // a page was shown
	err   error  // of the first attempt
	again string // why the server asks again
}

// Authorize implements auth.OAuthHandler.
func (f *loginFlow) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	why, scope, metadata := challenge(resp)
	switch {
	case f.err != nil:
		_ = resp.Body.Close() // nobody reads it
		return f.err
	case f.begun && !scope:
		_ = resp.Body.Close() // nobody reads it
		f.err = fmt.Errorf("the server refuses the token of this login: %s", why)
		return f.err
	case f.begun:
		f.again = why
	}
	f.check.metadata = metadata
	plain := req.Clone(ctx)
	plain.URL.RawQuery, plain.URL.Fragment = "", "" // the name of the resource, in metadata, has none
	f.err = f.OAuthHandler.Authorize(ctx, plain, resp)
	return f.err
}

// challenge returns the reason of a refusal, whether it wants further rights, and the address of
// the metadata that it names.
func challenge(resp *http.Response) (why string, scope bool, metadata string) {
	why = resp.Status
	list, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		return why, false, ""
	}
	for _, c := range list {
		if text := strings.TrimSpace(c.Params["error"] + " " + c.Params["error_description"]); text != "" {
			why += ": " + text
		}
		if c.Params["error"] == "insufficient_scope" {
			scope = true
			if c.Params["scope"] != "" {
				why += ", it wants " + c.Params["scope"]
			}
		}
		if metadata == "" {
			metadata = c.Params["resource_metadata"]
		}
	}
	return bounded(errors.New(why), maxWhy), scope, metadata
}

// plainAddress returns an address without its query.
func plainAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.RawQuery, u.ForceQuery, u.Fragment = "", false, ""
	return u.String()
}

// loginTransport makes the requests of a login, which may hold secrets: encrypted ones only,
// with bounded answers.
type loginTransport struct {
	via     http.RoundTripper
	address string
	only    string                 // the address that may get a secret; "" for any
	foreign atomic.Pointer[string] // another resource that the server's metadata is of

	metadata string                 // the address of metadata that the server named
	name     atomic.Pointer[string] // of the resource, in its metadata; nil for the address
}

// resource returns the name of the server in requests for tokens.
func (l *loginTransport) resource() string {
	if name := l.name.Load(); name != nil {
		return *name
	}
	return l.address
}

// named returns the page of a login with the name of the resource.
func (l *loginTransport) named(page string) string {
	u, err := url.Parse(page)
	if err != nil {
		return page
	}
	q := u.Query()
	q.Set("resource", l.resource())
	u.RawQuery = q.Encode()
	return u.String()
}

// client returns a client that follows no redirect to another host, which would get the
// secrets.
func (l *loginTransport) client() *http.Client {
	return &http.Client{Transport: l, CheckRedirect: sameHost, Timeout: time.Minute}
}

// RoundTrip implements http.RoundTripper.
func (l *loginTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !safe(req.URL) {
		return nil, errors.New("it is not encrypted: " + req.URL.Host)
	}
	if l.only != "" && req.Method != http.MethodGet && req.URL.String() != l.only {
		return nil, fmt.Errorf("the server now sends the client's secret to %s, no longer to %s: give the secret again with --client-secret if that is right", req.URL.Host, hostOf(l.only))
	}
	req, err := l.withResource(req)
	if err != nil {
		return nil, err
	}
	resp, err := headers{via: l.via}.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK || req.Method != http.MethodGet {
		return resp, err
	}
	data, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	if data, err = l.see(req.URL, data); err != nil {
		return nil, err
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	return resp, nil
}

// withResource adds the name of the resource to a request for tokens, also for one that renews
// them, which the libraries leave out.
func (l *loginTransport) withResource(req *http.Request) (*http.Request, error) {
	if req.Method != http.MethodPost || req.Body == nil || !strings.HasPrefix(req.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return req, nil
	}
	data, err := io.ReadAll(req.Body)
	if err = errors.Join(err, req.Body.Close()); err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(data))
	if err != nil {
		return nil, err
	}
	form.Set("resource", l.resource())
	text := form.Encode()
	out := req.Clone(req.Context())
	out.Body, out.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	return out, nil
}

// see looks at metadata, as the SDK decodes it. The SDK goes on without that of another resource,
// and accepts any method of PKCE. A resource that is the server's, by a name with another slash or
// a parent's, gets the name that the SDK expects; see resource.
func (l *loginTransport) see(from *url.URL, data []byte) ([]byte, error) {
	var meta map[string]any
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&meta); err != nil {
		return nil, fmt.Errorf("the answer of %s is not valid metadata: %w", from.Host, err)
	}
	_, page := meta["authorization_endpoint"]
	value, named := meta["resource"]
	resource, _ := value.(string)
	own := within(l.address, resource)
	if (named || !page) && !own {
		l.foreign.Store(&resource)
	}
	if methods, _ := meta["code_challenge_methods_supported"].([]any); page && !slices.Contains(methods, any("S256")) {
		return nil, fmt.Errorf("%s does not protect a login by PKCE with S256, so another program could take it over: its operator has to change that", from.Host)
	}
	if page || !own {
		return data, nil
	}
	l.name.Store(&resource)
	if meta["resource"] = l.address; from.Path == resourcePath && from.String() != l.metadata {
		meta["resource"] = rootOf(l.address)
	}
	return json.Marshal(meta)
}

// rootOf returns an address without its path.
func rootOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Path = ""
	return u.String()
}

// within reports whether an address is that of a resource or below it.
func within(address, resource string) bool {
	a, r := canonical(address), canonical(resource)
	rest, ok := strings.CutPrefix(a, strings.TrimRight(r, "/"))
	return ok && resource != "" && hostOf(a) == hostOf(r) && (rest == "" || strings.ContainsAny(rest[:1], "/?"))
}

// canonical returns an address with the host in small letters and without the usual port.
func canonical(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Host = strings.ToLower(u.Host)
	if port := u.Port(); u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	return u.String()
}
