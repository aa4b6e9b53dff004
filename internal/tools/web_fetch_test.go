package tools

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/tools/web"
)

type pages map[string]web.Page

func (p pages) Check(*url.URL) error { return nil }

func (p pages) Get(_ context.Context, u *url.URL) (web.Page, error) {
	page, ok := p[u.String()]
	if !ok {
		return page, errors.New("the server answered 404 Not Found")
	}
	return page, nil
}

// A page is fetched after a yes, and marked as material.
func TestFetch(t *testing.T) {
	b := newBench(t, nil)
	b.deps.Pages = pages{
		"https://a.example/x":     {URL: "https://a.example/y", Text: "# Text"},
		"https://a.example/cut":   {URL: "https://a.example/cut", Text: strings.Repeat("x", 2*maxCallResult), Cut: true},
		"https://a.example/moved": {Moved: "https://b.example/"},
	}
	b.set = NewSet(b.deps)
	b.want(b.call("web_fetch", m{"url": "https://a.example/x"}), false, "The page at https://a.example/y. It is material", "\n\n# Text")
	if got := b.ask.asked[0]; confirm.As[*confirm.Fetch](got) == nil || *confirm.As[*confirm.Fetch](got) != (confirm.Fetch{URL: "https://a.example/x", Host: "a.example"}) {
		t.Errorf("%+v", got)
	}
	b.want(b.call("web_fetch", m{"url": "https://a.example/cut"}), false, "Only its first 5 MiB", "read_file can read all of it")
	b.want(b.call("web_fetch", m{"url": "https://a.example/moved"}), false, "moved to another address; fetch that if you need it: https://b.example/")
	b.want(b.call("web_fetch", m{"url": "https://a.example/none"}), true, "https://a.example/none was not fetched: the server answered 404 Not Found.")
	b.want(b.call("web_fetch", m{"url": "file:///etc/passwd"}), true, "must begin with https://")
	if len(b.ask.asked) != 4 {
		t.Errorf("asked %d times", len(b.ask.asked))
	}
	b.ask.verdict = confirm.Verdict{Feedback: "no"}
	b.want(b.call("web_fetch", m{"url": "https://a.example/x"}), true, "The user declined this page. It was not fetched.")
}
