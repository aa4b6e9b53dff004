package confirm

import "github.com/bb2d0cf4/agent/internal/sanitize"

// Read is a request to read a file outside the workspace, or one in it that usually holds
// keys.
type Read struct {
	Path   string // absolute, resolved
	Name   string // relative to the workspace, with forward slashes; empty outside its main folder
	Inside bool   // it is in the workspace
	Keys   string // "may contain passwords or keys", or as git's settings; "" if a rule is about it, or outside
}

func (f *Read) facts(Request) Facts {
	what := "outside the workspace"
	switch {
	case f.Keys != "":
		what = "a file that " + f.Keys
	case f.Inside:
		what = "a file that a rule or a hook asks about"
	}
	return Facts{Title: "Read " + sanitize.Name(f.Path), Line: "read " + what + ": " + sanitize.Name(f.Path), Covers: "this file", Kind: "read", About: f.Path}
}

func (*Read) fits(v Verdict) error { return v.bare() }
