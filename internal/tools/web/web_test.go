package web

import (
	"compress/gzip"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// site returns a server on this machine and a client that may contact it.
func site(t *testing.T, handle http.HandlerFunc) (address string, c *Client) {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return s.URL, New(Options{Agent: "agent/test", Public: func(netip.Addr) bool { return true }})
}

func get(t *testing.T, c *Client, address string) (Page, error) {
	t.Helper()
	u, err := Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return c.Get(t.Context(), u)
}

func TestPages(t *testing.T) {
	for name, tt := range map[string]struct{ kind, body, want string }{
		"HTML":             {"text/html; charset=utf-8", `<h1>Title</h1><script>no()</script><p>A <a href="/b">link</a>.</p>`, "# Title\n\nA [link](URL/b)."},
		"Latin-1":          {"text/plain; charset=iso-8859-1", "caf\xe9", "café"},
		"JSON":             {"application/problem+json", `{"a":1}`, `{"a":1}`},
		"without a type":   {"", "plain text", "plain text"},
		"unknown charset":  {"text/plain; charset=none", "a\xffb", "a\ufffdb"},
		"byte order mark":  {"text/markdown", "\ufeff# a", "# a"},
		"its escape codes": {"text/plain", "\x1b[2Ja", "\x1b[2Ja"}, // the faces make them visible
	} {
		t.Run(name, func(t *testing.T) {
			address, c := site(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = []string{tt.kind}
				_, _ = w.Write([]byte(tt.body))
			})
			page, err := get(t, c, address+"/a#part")
			if want := strings.ReplaceAll(tt.want, "URL", address); err != nil || page.Text != want || page.URL != address+"/a" {
				t.Errorf("%+v, %v", page, err)
			}
		})
	}
}

func TestPagesThatAreRefused(t *testing.T) {
	for want, handle := range map[string]http.HandlerFunc{
		"the server answered 404 Not Found": http.NotFound,
		"it is image/png: only text can be fetched": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/png")
		},
		"the answer broke off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			_, _ = w.Write([]byte("a"))
		},
		"more than 5 redirects": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/a", http.StatusFound) },
	} {
		t.Run(want, func(t *testing.T) {
			address, c := site(t, handle)
			if page, err := get(t, c, address); err == nil || !strings.Contains(err.Error(), want) || page.Text != "" {
				t.Errorf("%+v, %v", page, err)
			}
		})
	}
}

// Only the addresses that everybody reaches are contacted; also after a redirect, and for a
// name that resolves to this machine.
func TestPrivateAddresses(t *testing.T) {
	var reached atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer s.Close()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"} {
		if _, err := get(t, New(Options{}), "http://"+host+":"+u.Port()); err == nil {
			t.Errorf("%s was contacted", host)
		}
	}
	for address, refused := range map[string]bool{s.URL: true, "http://[::1]/": true, "http://[::ffff:10.0.0.1]/": true, "http://1.1.1.1/": false, "http://localhost/": false} {
		if err := New(Options{}).Check(parse(t, address)); (err != nil) != refused {
			t.Errorf("%s: %v", address, err)
		}
	}
	_, err = get(t, New(Options{}), s.URL)
	if reached.Load() != 0 || !errors.Is(err, errPrivate) {
		t.Errorf("reached %d times, %v", reached.Load(), err)
	}
	for addr, want := range map[string]bool{
		"93.184.215.14": true, "2606:2800:21f:cb07:6820:80da:af6b:8b2c": true,
		"10.0.0.1": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false, "198.18.0.1": false,
		"224.0.0.1": false, "255.255.255.255": false, "0.1.2.3": false, "fe80::1": false, "fd00::1": false, "::": false, "::7f00:1": false,
		"64:ff9b::7f00:1": false, "2002:7f00:1::": false, "fe80::1%eth0": false, "2001:db8::1": false,
	} {
		if got := public(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %t", addr, got)
		}
	}
}

// A redirect to another host is reported, not followed.
func TestRedirects(t *testing.T) {
	var other atomic.Int64
	away := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { other.Add(1) }))
	defer away.Close()
	address, c := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/near":
			http.Redirect(w, r, "/here", http.StatusMovedPermanently)
		case "/far":
			http.Redirect(w, r, away.URL+"/there", http.StatusFound)
		default:
			_, _ = w.Write([]byte("here"))
		}
	})
	if page, err := get(t, c, address+"/near"); err != nil || page.Text != "here" || page.URL != address+"/here" {
		t.Errorf("%+v, %v", page, err)
	}
	page, err := get(t, c, address+"/far")
	if err != nil || page.Moved != away.URL+"/there" || page.Text != "" || other.Load() != 0 {
		t.Errorf("%+v, %v; the other host was asked %d times", page, err, other.Load())
	}
	for _, tt := range []struct {
		from, to string
		want     bool
	}{
		{"http://a/", "https://a/x", true},
		{"https://a/", "http://a/", false},
		{"http://a:80/", "https://a/", false},
		{"https://a/", "https://a:8443/", false},
		{"https://a/", "https://b.a/", false},
		{"https://a/", "https://u:p@a/", false},
	} {
		from, to := parse(t, tt.from), parse(t, tt.to)
		if got := sameServer(from, to); got != tt.want {
			t.Errorf("%s to %s: %t", tt.from, tt.to, got)
		}
	}
}

func parse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// Bodies are bounded after decompression, and so are the kept pages.
func TestBounds(t *testing.T) {
	asked := map[string]int{}
	address, c := site(t, func(w http.ResponseWriter, r *http.Request) {
		asked[r.URL.Path]++
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write([]byte(strings.Repeat("a", 2*maxBody)))
		_ = z.Close()
	})
	page, err := get(t, c, address+"/a")
	if err != nil || len(page.Text) != maxBody || !page.Cut {
		t.Errorf("%d bytes, cut %t, %v", len(page.Text), page.Cut, err)
	}
	for _, path := range []string{"/a", "/b", "/b", "/a"} {
		if _, err := get(t, c, address+path); err != nil {
			t.Error(err)
		}
	}
	if asked["/a"] != 2 || asked["/b"] != 1 { // both do not fit
		t.Errorf("asked %v", asked)
	}
	c.now = func() time.Time { return time.Now().Add(keepFor) }
	if _, err := get(t, c, address+"/a"); err != nil || asked["/a"] != 3 {
		t.Errorf("asked %v, %v", asked, err)
	}
}

// Deep HTML is refused; of other HTML the work and the text grow with its size.
func TestHostileHTML(t *testing.T) {
	for body, refused := range map[string]bool{
		strings.Repeat("<div>", 1<<16):                          true,
		strings.Repeat("<b><table><td>", 1<<16):                 true,
		strings.Repeat("<", 1<<20):                              false,
		strings.Repeat("*_`[", 1<<18):                           false, // took minutes with Markdown's escapes
		strings.Repeat("<p>a</p>", 1<<14):                       false,
		strings.Repeat("<a href=x>[", 1<<12):                    false,
		"<table>" + strings.Repeat("<tr><td>a<td>b", 1<<13):     false,
		"<pre>" + strings.Repeat("`", 1<<16) + "</pre>" + "<p>": false,
		strings.Repeat("a<!---->", 1<<18):                       false, // took minutes

		strings.Repeat("<blockquote>", 400) + strings.Repeat("a<br>", 1<<16):                           false,
		strings.Repeat("<ul><li>", 200) + strings.Repeat("a<br>", 1<<16):                               false,
		strings.Repeat("<ol start=1000000000000000000><li>", 15) + strings.Repeat("a<br>", 1<<16):      false,
		"<table><tr>" + strings.Repeat("<td>a", 1<<16) + strings.Repeat("<tr>", 1<<16):                 false,
		"<table><tr>" + strings.Repeat("<td colspan=1000 rowspan=1000>a", 1<<10):                       false,
		"<table><tr><td>" + strings.Repeat("a", 1<<16) + strings.Repeat("<tr><td>", 1<<13):             false,
		strings.Repeat("<table><tr>"+strings.Repeat("<td colspan=100>", 10)+"</table>", 1<<12) + "<p>": false,
	} {
		address, c := site(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(body))
		})
		page, err := get(t, c, address)
		if (err != nil) != refused || len(page.Text) > 8*len(body) {
			t.Errorf("%.20q: %d bytes of %d, %v", body, len(page.Text), len(body), err)
		}
	}
}

// A cell that spans columns without end has a hundred, and quotes and lists are nested at most
// twenty deep.
func TestSpansAndNesting(t *testing.T) {
	for _, tt := range []struct {
		body, mark string
		want       int
	}{
		{`<table><tr><td colspan="20000000">x</td></tr></table>`, "|", 3 * (maxSpan + 1)},
		{`<table><tr><td rowspan="20000000">x</td></tr></table>`, "|", 2 * (maxSpan + 2)},
		{strings.Repeat("<blockquote>", 200) + "x", ">", maxNesting},
		{strings.Repeat("<ul><li>", 100) + "x", "-", maxNesting},
	} {
		text, err := markdown(t.Context(), tt.body, parse(t, "https://a.example"))
		if got := strings.Count(text, tt.mark); err != nil || got != tt.want || !strings.Contains(text, "x") {
			t.Errorf("%.30q: %d times %q, %v", tt.body, got, tt.mark, err)
		}
	}
}

// A page whose conversion takes long does not outlast its context.
func TestConversionEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	u, body := parse(t, "https://a.example"), strings.Repeat("<p>a", 1<<18)
	if text, err := markdown(ctx, body, u); !errors.Is(err, context.Canceled) || text != "" {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if text, err := convert(ctx, body, u); !errors.Is(err, context.Canceled) || text != "" {
		t.Errorf("the work goes on: %d bytes, %v", len(text), err)
	}
}

func TestParse(t *testing.T) {
	for address, want := range map[string]string{
		"file:///etc/passwd": "must begin with https://", "https://": "names no host", "https://u:p@a/": "a name or password",
		"http://[": "is not an address", "//a/b": "must begin with", "http://a／b.example/": "is not a name",
	} {
		if u, err := Parse(address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", address, u, err)
		}
	}
	for address, want := range map[string]string{
		"HTTPS://Example.COM/A?b#c":    "https://example.com/A?b",
		"http://ｅxample。com:8080/a":    "http://example.com:8080/a", // the same server: a rule for it counts
		"https://EX%EF%BC%A1mple.com/": "https://example.com/",
		"https://Bücher.example":       "https://xn--bcher-kva.example",
	} {
		if u, err := Parse(address); err != nil || u.String() != want {
			t.Errorf("%s: %v, %v", address, u, err)
		}
	}
}
