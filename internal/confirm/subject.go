package confirm

import (
	"errors"

	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Subject is the matter of a request: a pointer to one of the types of this package that
// implement it, each in a file of its own.
//
//sumtype:decl
type Subject interface {
	// facts returns the facts that all surfaces and the log need.
	facts(r Request) Facts
	// fits returns an error if v cannot be meant as its approval.
	fits(v Verdict) error
}

// Facts are the facts about a subject that all surfaces and the log need.
type Facts struct {
	Title string // in a line that is safe to print: "Run make"
	// Line describes all of a subject that fits in a line, which is safe to print: "read outside
	// the workspace: /etc/hosts". It is "" for other subjects.
	Line string
	// Covers names the requests that a "yes for this session" would cover; "" if it would cover
	// no others.
	Covers string
	Once   bool // no answer covers another request
	// Kind and About name the subject in the log, Text is the proposed text. They are not sanitized.
	Kind, About, Text string
	// Drafts are the texts that a person may edit on a surface that shows files.
	Drafts []workspace.Change
}

// Facts returns the facts about the subject; a request without one is named by its tool.
func (r Request) Facts() Facts {
	if r.Subject == nil {
		return Facts{Title: sanitize.Line(r.Tool)}
	}
	return r.Subject.facts(r)
}

// As returns the subject of r if it is a T, else nil.
func As[T Subject](r Request) T {
	s, _ := r.Subject.(T)
	return s
}

// bare returns an error if v, an approval, holds more than that and a permission.
func (v Verdict) bare() error {
	switch {
	case v.Answer != "":
		return errors.New("the reviewer gave an answer in words, but the request asks for none")
	case v.Mode != "":
		return errors.New("the reviewer chose a permission mode, but the request is not about a document")
	case len(v.Texts) > 0 || v.Unsure != "":
		return errors.New("the reviewer approved a text, but the request changes none")
	case len(v.Except) > 0:
		return errors.New("the reviewer left out files, but the request has none")
	}
	return nil
}

// once is bare, and returns an error if v also permits anything else.
func (v Verdict) once() error {
	if v.Session || v.Always != nil {
		return errors.New("the reviewer gave a permission, but the request asks for none")
	}
	return v.bare()
}
