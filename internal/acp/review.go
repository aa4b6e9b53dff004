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
	err := v.conn.call(ctx, "session/request_permission", permissionParams{v.of.ID, v.question(req), v.options(req)}, &res)
	if ctx.Err() != nil {
		return confirm.Verdict{}, ctx.Err()
	}
	verdict := confirm.Verdict{By: "the editor"}
	if err != nil {
		return verdict, fmt.Errorf("the host could not ask: %w", err)
	}
	switch id := res.Outcome.OptionID; {
	case res.Outcome.Outcome != "selected":
		return verdict, confirm.ErrUndecided
	case req.Choice != nil:
		verdict.Answer, err = v.answer(ctx, req, id)
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
func (v *view) answer(ctx context.Context, req confirm.Request, id string) (string, error) {
	if id == answerWords && v.takesWords(req) {
		return v.words(ctx, req)
	}
	for i, o := range req.Choice.Options {
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
		if req.Document != nil { // the plan mode ends
			verdict.Mode = permission.Default.String()
		}
		if req.Plan != nil {
			verdict.Except = req.Plan.Out
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
	if req.Choice != nil {
		return answersOf(req, v.takesWords(req))
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
	word := alwaysWord(req)
	if word != "" && (req.Offer == nil || req.Change == nil) {
		return option{allowSession, "Always allow " + word + " in this session", "allow_always"}, true
	}
	if req.Offer != nil {
		return option{allowRule, "Always allow " + sanitize.Line(req.Offer.Rule) + " in this session", "allow_always"}, true
	}
	return option{}, false
}

// asked returns a question with who asks it, if not the model.
func asked(c confirm.Choice) string {
	if c.From == "" {
		return c.Text
	}
	return c.From + " asks: " + c.Text
}

// answersOf returns the answers to a choice. In a host without forms another answer to a
// question of the model is a refusal, and a prompt.
func answersOf(req confirm.Request, words bool) (all []option) {
	for i, o := range req.Choice.Options {
		all = append(all, option{answerPrefix + strconv.Itoa(i), sanitize.Line(sanitize.Exact(o)), "allow_once"})
	}
	switch {
	case words:
		return append(all, option{answerWords, "Another answer", "allow_once"}, option{rejectOnce, "No answer", "reject_once"})
	case req.ByUser:
		return append(all, option{rejectOnce, "None of these", "reject_once"})
	}
	return append(all, option{rejectOnce, "No answer, or one by a prompt", "reject_once"})
}

// alwaysWord names the requests that a "yes for this session" covers; "" if none may be
// given.
func alwaysWord(req confirm.Request) string {
	if req.Once() || req.Command != nil && req.Command.Unconfined {
		return ""
	}
	return req.Covered()
}

// question describes a request as the call that it belongs to.
func (v *view) question(req confirm.Request) toolCall {
	c := toolCall{ID: "question-" + req.ID, Title: title(req), ToolKind: kindOf(req.Tool), Status: "pending"}
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
	if req.Change != nil {
		c.Locations = []location{{req.Change.Path}}
		switch {
		case req.Change.Moves():
			c.ToolKind = "move"
			c.Locations = append(c.Locations, location{req.Change.To})
		case req.Change.Delete:
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
	switch {
	case req.Change != nil:
		switch c := req.Change; {
		case c.Moves():
			all = append(all, text(fmt.Sprintf("The file (%d bytes) is moved to %s.", c.Size, sanitize.Name(c.ToName))))
		case c.Delete:
			all = append(all, text(fmt.Sprintf("The file (%d bytes) is removed.", c.Size)))
		}
		all = append(all, diffOf(*req.Change))
	case req.Plan != nil:
		for i, change := range req.Plan.Changes {
			if slices.Contains(req.Plan.Out, i) {
				all = append(all, text("You left out "+sanitize.Name(change.Label())+"; Allow leaves it out too."))
				continue
			}
			switch {
			case change.Moves():
				all = append(all, text("Move "+sanitize.Name(change.Label())+":"))
			case change.Delete:
				all = append(all, text("Delete "+sanitize.Name(change.Name)+":"))
			}
			all = append(all, diffOf(change))
		}
	case req.Choice != nil:
		all = append(all, text(sanitize.Exact(asked(*req.Choice))))
	case req.Document != nil:
		all = append(all, text(sanitize.Text(req.Document.Text)))
	case req.Command != nil:
		all = append(all, fenced("sh", sanitize.Exact(req.Command.Line)), text("in "+sanitize.Name(req.Command.Dir)))
	case req.Call != nil:
		all = append(all, fenced("json", sanitize.Exact(req.Call.Args)))
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

// titleOf describes a change in a line.
func titleOf(c workspace.Change) string {
	verb := "Edit "
	switch {
	case c.Moves():
		verb = "Move "
	case c.Delete:
		verb = "Delete "
	}
	return verb + sanitize.Name(c.Label())
}

// title describes a request in a line.
func title(req confirm.Request) string {
	switch {
	case req.Change != nil:
		return titleOf(*req.Change)
	case req.Plan != nil:
		return sanitize.Line(req.Plan.Title)
	case req.Command != nil && req.Command.Unconfined:
		return "Run again without the sandbox: " + sanitize.Line(req.Command.Line)
	case req.Command != nil:
		return "Run " + sanitize.Line(req.Command.Line)
	case req.Call != nil:
		return "Call " + sanitize.Line(req.Call.Server+": "+req.Call.Tool)
	case req.Fetch != nil:
		return "Fetch " + sanitize.Line(req.Fetch.URL)
	case req.Read != nil:
		return "Read " + sanitize.Name(req.Read.Path)
	case req.Document != nil:
		return "Carry out the plan, and ask about edits"
	case req.Choice != nil:
		first, _, _ := strings.Cut(strings.TrimSpace(asked(*req.Choice)), "\n") // the content is the whole
		return sanitize.Line(sanitize.Exact(first))
	case req.Save != nil:
		return "Save " + sanitize.Name(req.Save.Name)
	case req.Limit != nil:
		return sanitize.Line(req.Limit.Reached) + ". Go on?"
	}
	return sanitize.Line(req.Tool)
}
