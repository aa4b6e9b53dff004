package acp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/jsonrpc"
	"github.com/bb2d0cf4/agent/internal/session/archive"
)

// wordsField is the only field of a form.
const wordsField = "words"

// takesWords reports whether a refusal may have words for the model: the host has forms, and
// the refusal goes to the model.
func (v *view) takesWords(req confirm.Request) bool {
	switch req.Subject.(type) {
	case *confirm.Limit, *confirm.Save:
		return false
	default:
		return v.forms && !req.ByUser
	}
}

// words asks the host's user for words in a form; "" without any. A form that is declined
// changes nothing about the answer before it. The error is ctx's.
func (v *view) words(ctx context.Context, req confirm.Request) (string, error) {
	message, title := "What should be done instead? Without words the turn ends.", "For the model"
	if c, ok := req.Subject.(*confirm.Choice); ok {
		message, title = c.Asked(), "Your answer"
	}
	var res formResult
	err := v.conn.Call(ctx, "elicitation/create", formParams{
		Mode: "form", SessionID: v.of.id, CallID: v.question(req).ID, Message: message,
		Schema: formSchema{Type: "object", Properties: map[string]formField{wordsField: {Type: "string", Title: title}}},
	}, &res)
	if err != nil || res.Action != "accept" {
		return "", ctx.Err()
	}
	text, _ := res.Content[wordsField].(string) // another value is no text
	return strings.TrimSpace(text), nil
}

// delete deletes a saved session that is not open here.
func (a *agent) delete(p onSession) (any, error) {
	if _, err := a.find(p.SessionID); err == nil {
		return nil, jsonrpc.NewError(jsonrpc.InvalidRequest, "close the session first")
	}
	sessions := archive.New(a.opt.Home)
	all, err := sessions.List("")
	if err == nil && !slices.ContainsFunc(all, func(i archive.Info) bool { return i.ID == p.SessionID }) { // an id that only begins so is another
		err = fmt.Errorf("%w: %q", archive.ErrNoSession, p.SessionID)
	}
	if err == nil {
		err = sessions.Remove(p.SessionID)
	}
	if err != nil {
		return nil, fmt.Errorf("the session is not deleted: %w", err)
	}
	return struct{}{}, nil
}
