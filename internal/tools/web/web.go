// Package web fetches pages for the model. It guarantees that only public addresses are
// contacted, whatever a name resolves to, that a redirect to another host is reported and
// not followed, and that no cookie, credential or proxy takes part.
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"golang.org/x/net/idna"

	"github.com/bb2d0cf4/agent/internal/tlsfault"
	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// Bounds of a fetch.
const (
	maxBody      = 5 << 20 // bytes, decompressed
	maxHeader    = 64 << 10
	maxRedirects = 5
	timeLimit    = 30 * time.Second
	keepFor      = 15 * time.Minute
	maxKept      = 8 << 20 // bytes of text
)

// errPrivate is returned for an address that is not public.
var errPrivate = errors.New("it is not a public address")

// Page is a fetched page.
type Page struct {
	URL  string // after redirects
	Text string // Markdown for HTML
	Cut  bool   // only the first 5 MiB are in Text
	// Moved is the address on another host that the server redirects to; then there is no
	// text.
	Moved string
}

// Options configures a Client.
type Options struct {
	Agent string // the User-Agent header
	// Public reports whether an address may be contacted; nil means a public one. It is for
	// tests, whose servers are on this machine.
	Public func(netip.Addr) bool
}

// Client fetches pages. It is safe for concurrent use.
type Client struct {
	public func(netip.Addr) bool
	agent  string
	http   *http.Client
	now    func() time.Time

	mu   sync.Mutex
	kept []kept // newest last
}

// kept is a page of the last minutes.
type kept struct {
	asked string
	page  Page
	at    time.Time
}

// New returns a Client.
func New(opt Options) *Client {
	if opt.Public == nil {
		opt.Public = public
	}
	dialer := &net.Dialer{Timeout: timeLimit, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !opt.Public(at.Addr().Unmap()) {
			return fmt.Errorf("%s: %w", address, errPrivate)
		}
		return nil
	}}
	return &Client{public: opt.Public, agent: opt.Agent, now: time.Now, http: &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, MaxResponseHeaderBytes: maxHeader,
			ForceAttemptHTTP2: true, IdleConnTimeout: timeLimit, MaxIdleConns: maxRedirects,
		},
		CheckRedirect: func(to *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fmt.Errorf("more than %d redirects", maxRedirects)
			}
			if !sameServer(via[0].URL, to.URL) {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}}
}

// Parse checks an address that a model wrote, and returns it without its fragment.
func Parse(address string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is not an address", address)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the address must begin with https:// or http://")
	case u.Hostname() == "":
		return nil, errors.New("the address names no host")
	case u.User != nil:
		return nil, errors.New("the address holds a name or password, which are not sent")
	}
	if err := plainHost(u); err != nil {
		return nil, err
	}
	u.Fragment = ""
	return u, nil
}

// plainHost writes the host of u as it is looked up, so that no other spelling of it gets
// around a rule: "ｅxample.com" is example.com.
func plainHost(u *url.URL) error {
	u.Host = strings.ToLower(u.Host)
	if !strings.ContainsFunc(u.Host, func(r rune) bool { return r > unicode.MaxASCII }) {
		return nil
	}
	host, err := idna.Lookup.ToASCII(u.Hostname())
	if err != nil {
		return fmt.Errorf("the host %q is not a name", u.Hostname())
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	u.Host = host
	return nil
}

// sameServer reports whether a redirect stays with the server that a person agreed to: the
// same host and port, or the same host by https.
func sameServer(from, to *url.URL) bool {
	if to.User != nil {
		return false
	}
	upgrade := from.Scheme == "http" && to.Scheme == "https" && from.Port() == "" && to.Port() == ""
	return strings.EqualFold(from.Hostname(), to.Hostname()) && (upgrade || from.Scheme == to.Scheme && from.Port() == to.Port())
}

// Check returns an error if the host of u is an address that Get would not contact.
func (c *Client) Check(u *url.URL) error {
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && !c.public(addr.Unmap()) {
		return errPrivate
	}
	return nil
}

// Get fetches the page at u, which Parse returned, or returns the one of the last 15 minutes.
func (c *Client) Get(ctx context.Context, u *url.URL) (Page, error) {
	if page, ok := c.recall(u.String()); ok {
		return page, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return Page{}, err
	}
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set("Accept", "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5")
	res, err := c.http.Do(req)
	if err != nil {
		return Page{}, explain(err)
	}
	page, err := read(ctx, res)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return Page{}, explain(err)
	}
	c.keep(u.String(), page)
	return page, nil
}

// explain returns err without the method and address that net/http puts before it.
func explain(err error) error {
	var of *url.Error
	switch {
	case errors.Is(err, errPrivate):
		return errPrivate
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no complete answer within %s", timeLimit)
	case errors.As(err, &of):
		if fault, _ := tlsfault.Explain(err, time.Now()); fault != "" {
			return errors.New("the server " + fault)
		}
		return of.Err
	}
	return err
}

// read reads a response.
func read(ctx context.Context, res *http.Response) (Page, error) {
	page := Page{URL: res.Request.URL.String()}
	if res.StatusCode/100 == 3 {
		if to, err := res.Location(); err == nil {
			page.Moved = to.String()
			return page, nil
		}
	}
	if res.StatusCode/100 != 2 {
		return page, fmt.Errorf("the server answered %d %s", res.StatusCode, http.StatusText(res.StatusCode))
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil {
		return page, fmt.Errorf("the answer broke off: %w", err)
	}
	if page.Cut = len(body) > maxBody; page.Cut {
		body = body[:maxBody]
	}
	kind, params, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil {
		kind, params, _ = mime.ParseMediaType(http.DetectContentType(body)) // always valid
	}
	if !isText(kind) {
		return page, fmt.Errorf("it is %s: only text can be fetched", kind)
	}
	page.Text = text.Declared(body, params["charset"])
	if kind == "text/html" || kind == "application/xhtml+xml" {
		if page.Text, err = markdown(ctx, page.Text, res.Request.URL); err != nil {
			return page, fmt.Errorf("its HTML cannot be read: %w", err)
		}
		if len(page.Text) > maxBody {
			page.Text, page.Cut = strings.ToValidUTF8(page.Text[:maxBody], ""), true
		}
	}
	return page, nil
}

// isText reports whether a media type is that of a text.
func isText(kind string) bool {
	switch kind {
	case "application/json", "application/xml", "application/xhtml+xml", "application/javascript", "application/yaml", "application/toml", "application/x-ndjson":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml")
}

func (c *Client) recall(address string) (Page, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.kept {
		if k.asked == address && c.now().Sub(k.at) < keepFor {
			return k.page, true
		}
	}
	return Page{}, false
}

func (c *Client) keep(address string, page Page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = append(c.kept, kept{address, page, c.now()})
	size := 0
	for i := len(c.kept) - 1; i >= 0; i-- {
		if size += len(c.kept[i].page.Text); size > maxKept || c.now().Sub(c.kept[i].at) >= keepFor {
			c.kept = slices.Delete(c.kept, 0, i+1)
			return
		}
	}
}

// public reports whether addr is reachable from everywhere: no machine or network of the
// user's own can be meant.
func public(addr netip.Addr) bool {
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.Zone() != "" {
		return false
	}
	for _, net := range reserved() {
		if net.Contains(addr) {
			return false
		}
	}
	return true
}

// reserved returns the networks of global unicast addresses that are not public, by IANA's
// registries of special-purpose addresses. Those that embed IPv4 addresses are among them.
func reserved() []netip.Prefix {
	var out []netip.Prefix
	for _, s := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
	} {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}
