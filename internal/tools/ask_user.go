package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
)

// Bounds of a question: it must fit on a screen, and a digit chooses an option.
const (
	maxQuestion = 2_000 // bytes
	maxOptions  = 9
	maxOption   = 300 // bytes
)

type askUserArgs struct {
	Question string   `json:"question"`
	Options  []string `json:"options"`
}

var askUserFacts = Facts{Name: "ask_user", Kind: KindOther, Hook: "AskUserQuestion", Names: []string{"AskUserQuestion"}}

func askUser(d Deps) Tool {
	params := []args.Param{
		{Name: "question", Kind: args.Text, Required: true},
		{Name: "options", Schema: `{"type":"array","items":{"type":"string"}}`},
	}
	return newTool(askUserFacts.Name, params, func(a askUserArgs) string { return "Ask: " + a.Question }, asks{d}.ask)
}

type asks struct{ Deps }

func (t asks) ask(ctx context.Context, call Call, a askUserArgs) (Result, error) {
	if why := a.problem(); why != "" {
		return toolcall.Failed("The user was not asked: %s.", why), nil
	}
	v, err := t.Ask.Ask(ctx, confirm.Request{
		Tool: "ask_user", Description: call.Description, Batch: call.Batch,
		Subject: &confirm.Choice{Text: strings.TrimSpace(a.Question), Options: a.Options},
	})
	switch {
	case err != nil:
		return Result{}, UnansweredError{Err: err}
	case v.Decision == confirm.Approve:
		return Result{
			ForModel: "The user's answer: " + v.Answer, ForUser: toolcall.OneLine(v.Answer, toolcall.MaxTitle),
			Record: Record{Result: "answered by the user", Words: "The answer: " + v.Answer},
		}, nil
	case v.Unasked:
		return Result{
			ForModel: "Nobody could be asked. Choose what is most likely meant and can be undone, and name the choice in your answer.",
			ForUser:  "nobody could be asked", Record: Record{Result: "nobody could be asked"},
		}, nil
	}
	return toolcall.Declined("ask_user", "question", "The user gave no answer.", v), nil
}

// problem returns the reason why the question cannot be shown, or "".
func (a askUserArgs) problem() string {
	switch {
	case strings.TrimSpace(a.Question) == "":
		return "the question is empty"
	case len(a.Question) > maxQuestion:
		return fmt.Sprintf("the question is too long, the limit is %d bytes", maxQuestion)
	case len(a.Options) > maxOptions:
		return fmt.Sprintf("there are too many options, the limit is %d", maxOptions)
	}
	for _, o := range a.Options {
		if strings.TrimSpace(o) == "" || len(o) > maxOption {
			return fmt.Sprintf("each option needs a text of at most %d bytes", maxOption)
		}
	}
	return ""
}
