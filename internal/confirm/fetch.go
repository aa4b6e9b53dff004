package confirm

import "github.com/bb2d0cf4/agent/internal/sanitize"

// Fetch is a request to fetch a page.
type Fetch struct {
	URL  string
	Host string // of URL, without a port
}

func (f *Fetch) facts(Request) Facts {
	return Facts{Title: "Fetch " + sanitize.Line(f.URL), Line: "fetch from " + sanitize.Line(f.Host) + ": " + sanitize.Line(f.URL), Covers: "this host", Kind: "fetch", About: f.URL}
}

func (*Fetch) fits(v Verdict) error { return v.bare() }
