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
	if req.Change == nil || req.Change.Removes() {
		return
	}
	last, ok := r[req.Change.Path]
	if !ok {
		return
	}
	req.Refused = &last
	text := "revised, but with the text that you refused"
	if added, removed := diff.Count(last.Text, req.Change.After); added+removed > 0 {
		text = fmt.Sprintf("revised since you refused it: +%d −%d", added, removed)
	}
	req.Notes = append(slices.Clip(req.Notes), caution.Note{Kind: caution.Revised, Text: text})
}

// answered keeps the proposal of req if a person refused it with words; any other answer
// about the file forgets it.
func (r refusals) answered(req Request, v Verdict) {
	switch {
	case req.Change == nil || v.Unasked || v.Check:
	case v.Decision == Reject && !v.Rule && !req.ByUser && !req.Change.Removes() && (v.Feedback != "" || len(v.Comments) > 0):
		r[req.Change.Path] = Refused{Text: req.Change.After, Feedback: v.Feedback, Comments: v.Comments}
	default:
		delete(r, req.Change.Path)
	}
}
