package acp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// The ids of the options.
const (
	allowOnce    = "allow-once"
	allowSession = "allow-session"
	allowRule    = "allow-rule"
	rejectOnce   = "reject-once"
	rejectWords  = "reject-words"
	answerWords  = "answer-words"
	answerPrefix = "answer-" // and the index of an option of a choice
)

// Review implements confirm.Reviewer: it asks the host's user.
func (v *view) Review(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	var res permissionResult
	err := v.conn.Call(ctx, "session/request_permission", permissionParams{v.of.id, v.question(req), v.options(req)}, &res)
	if ctx.Err() != nil {
		return confirm.Verdict{}, ctx.Err()
	}
	verdict := confirm.Verdict{By: "the editor"}
	if err != nil {
		return verdict, fmt.Errorf("the host could not ask: %w", err)
	}
	choice, asks := req.Subject.(*confirm.Choice)
	switch id := res.Outcome.OptionID; {
	case res.Outcome.Outcome != "selected":
		return verdict, confirm.ErrUndecided
	case asks:
		verdict.Answer, err = v.answer(ctx, req, choice, id)
		if verdict.Answer != "" {
			verdict.Decision = confirm.Approve
		}
	case id == rejectWords && v.takesWords(req):
		verdict.Feedback, err = v.words(ctx, req)
	default:
		allow(&verdict, req, id)
	}
	return verdict, err
}

// answer returns the answer to a question of the model; "" without one.
func (v *view) answer(ctx context.Context, req confirm.Request, c *confirm.Choice, id string) (string, error) {
	if id == answerWords && v.takesWords(req) {
		return v.words(ctx, req)
	}
	for i, o := range c.Options {
		if id == answerPrefix+strconv.Itoa(i) {
			return o, nil
		}
	}
	return "", nil
}

// allow makes verdict a yes if id is one of those that were offered.
func allow(verdict *confirm.Verdict, req confirm.Request, id string) {
	switch {
	case id == allowOnce:
		verdict.Decision = confirm.Approve
		switch s := req.Subject.(type) {
		case *confirm.Document: // the plan mode ends
			verdict.Mode = permission.Default.String()
		case *confirm.Edits:
			verdict.Except = s.Out
		default:
		}
	case id == allowSession && given(req, id):
		verdict.Decision, verdict.Session = confirm.Approve, true
	case id == allowRule && given(req, id):
		verdict.Decision, verdict.Always = confirm.Approve, &confirm.Always{Rule: req.Offer.Rule}
	}
}

// given reports whether the answer for the session is the one with this id.
func given(req confirm.Request, id string) bool {
	always, ok := alwaysOf(req)
	return ok && always.ID == id
}

// options returns the answers that the user may choose.
func (v *view) options(req confirm.Request) []option {
	if c, ok := req.Subject.(*confirm.Choice); ok {
		return answersOf(c, req.ByUser, v.takesWords(req))
	}
	all := []option{{allowOnce, "Allow", "allow_once"}}
	if always, ok := alwaysOf(req); ok {
		all = append(all, always)
	}
	all = append(all, option{rejectOnce, "No", "reject_once"})
	if v.takesWords(req) {
		all = append(all, option{rejectWords, "No, and say what to do instead", "reject_once"})
	}
	return all
}

// alwaysOf returns the answer for the session, if one may be given. There is one at most: hosts
// that name answers by their kind would show two alike, and a person could take the wider one for
// the narrower. A grant covers all edits, but exactly this command or file.
func alwaysOf(req confirm.Request) (option, bool) {
	word := ""
	if !req.Once() {
		word = req.Facts().Covers
	}
	if word != "" && (req.Offer == nil || req.File() == nil) {
		return option{allowSession, "Always allow " + word + " in this session", "allow_always"}, true
	}
	if req.Offer != nil {
		return option{allowRule, "Always allow " + sanitize.Line(req.Offer.Rule) + " in this session", "allow_always"}, true
	}
	return option{}, false
}

// answersOf returns the answers to a choice. In a host without forms another answer to a
// question of the model is a refusal, and a prompt.
func answersOf(c *confirm.Choice, byUser, words bool) (all []option) {
	for i, o := range c.Options {
		all = append(all, option{answerPrefix + strconv.Itoa(i), sanitize.Line(sanitize.Exact(o)), "allow_once"})
	}
	switch {
	case words:
		return append(all, option{answerWords, "Another answer", "allow_once"}, option{rejectOnce, "No answer", "reject_once"})
	case byUser:
		return append(all, option{rejectOnce, "None of these", "reject_once"})
	}
	return append(all, option{rejectOnce, "No answer, or one by a prompt", "reject_once"})
}

// question describes a request as the call that it belongs to.
func (v *view) question(req confirm.Request) toolCall {
	c := toolCall{ID: "question-" + req.ID, Title: req.Facts().Title, ToolKind: kindOf(req.Tool), Status: "pending"}
	if req.Origin != "" {
		c.Title = sanitize.Line(req.Origin) + " – " + c.Title
	}
	v.mu.Lock()
	for _, open := range v.open {
		if open.Name == req.Tool && req.Origin == "" {
			c.ID = open.ID
			break
		}
	}
	v.mu.Unlock()
	if f := req.File(); f != nil {
		c.Locations = []location{{f.Path}}
		switch {
		case f.Moves():
			c.ToolKind = "move"
			c.Locations = append(c.Locations, location{f.To})
		case f.Delete:
			c.ToolKind = "delete"
		}
	}
	c.Content = contentOf(req)
	return c
}

// contentOf returns the content of a request, to be seen in full.
func contentOf(req confirm.Request) (all []callContent) {
	var notes []string
	for _, n := range req.Notes {
		notes = append(notes, "⚠ "+sanitize.Line(n.Text))
	}
	if len(notes) > 0 {
		all = append(all, text(strings.Join(notes, "\n\n")))
	}
	switch s := req.Subject.(type) {
	case *confirm.Edits:
		all = append(all, contentOfEdits(s)...)
	case *confirm.Choice:
		all = append(all, text(sanitize.Exact(s.Asked())))
	case *confirm.Document:
		all = append(all, text(sanitize.Text(s.Text)))
	case *confirm.Command:
		all = append(all, fenced("sh", sanitize.Exact(s.Line)), text("in "+sanitize.Name(s.Dir)))
	case *confirm.Call:
		all = append(all, fenced("json", sanitize.Exact(s.Args)))
	case *confirm.Read, *confirm.Save, *confirm.Fetch, *confirm.Limit: // their titles are all
	}
	return all
}

// contentOfEdits returns the diffs of changes, each after a sentence about a move or a removal.
func contentOfEdits(e *confirm.Edits) (all []callContent) {
	for i, c := range e.Changes {
		switch {
		case slices.Contains(e.Out, i):
			all = append(all, text("You left out "+sanitize.Name(c.Label())+". If you allow this, it stays unchanged."))
			continue
		case c.Moves() && e.One():
			all = append(all, text(fmt.Sprintf("The file (%d bytes) is moved to %s.", c.Size, sanitize.Name(c.ToName))))
		case c.Delete && e.One():
			all = append(all, text(fmt.Sprintf("The file (%d bytes) is removed.", c.Size)))
		case c.Moves():
			all = append(all, text("Move "+sanitize.Name(c.Label())+":"))
		case c.Delete:
			all = append(all, text("Delete "+sanitize.Name(c.Name)+":"))
		}
		all = append(all, diffOf(c))
	}
	return all
}

// diffOf shows a change, by the very texts: the host shows the bytes that are written.
func diffOf(c workspace.Change) callContent {
	d := callContent{Type: "diff", Path: c.Path, NewText: &c.After}
	if c.Exists {
		d.OldText = &c.Text
	}
	if c.Moves() {
		d.Path = c.To
	}
	return d
}
