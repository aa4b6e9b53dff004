package confirm

import (
	"fmt"
	"slices"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/diff"
)

// Refused is the last proposal for a file, which a person refused with words.
type Refused struct {
	Text     string // the proposed text
	Feedback string
	Comments []Comment
}

// refusals holds the refused proposals by path.
type refusals map[string]Refused

// mark adds the refused proposal for the same file to req.
func (r refusals) mark(req *Request) {
	c := req.File()
	if c == nil || c.Removes() {
		return
	}
	last, ok := r[c.Path]
	if !ok {
		return
	}
	req.Refused = &last
	text := "revised, but with the text that you refused"
	if added, removed := diff.Count(last.Text, c.After); added+removed > 0 {
		text = fmt.Sprintf("revised since you refused it: +%d −%d", added, removed)
	}
	req.Notes = append(slices.Clip(req.Notes), caution.Note{Kind: caution.Revised, Text: text})
}

// answered keeps the proposal of req if a person refused it with words; any other answer
// about the file forgets it.
func (r refusals) answered(req Request, v Verdict) {
	c := req.File()
	switch {
	case c == nil || v.Unasked || v.Check:
	case v.Decision == Reject && !v.Rule && !req.ByUser && !c.Removes() && (v.Feedback != "" || len(v.Comments) > 0):
		r[c.Path] = Refused{Text: c.After, Feedback: v.Feedback, Comments: v.Comments}
	default:
		delete(r, c.Path)
	}
}
