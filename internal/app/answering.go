package app

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/answerschema"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session"
)

// answering demands the form of the last answer of a turn; nil demands none. It belongs to the
// goroutine of the turn.
type answering struct {
	schema *answerschema.Schema
	again  bool // an answer of the turn was refused
}

// begin returns the demand for the model at the beginning of a turn.
func (a *answering) begin() []llm.Part {
	if a.schema == nil {
		return nil
	}
	a.again = false
	return []llm.Part{{Kind: llm.TextPart, Text: "\n\n" + a.schema.Ask(), Aside: true}}
}

// ending returns a text that sends the model back: a hook's, or once a turn that of an answer that
// is not valid. See session.Options.
func (a *App) ending(ctx context.Context, again bool) string {
	text := a.hooked.ending(ctx, again)
	if text != "" || a.answer.schema == nil || a.answer.again {
		return text
	}
	all := a.Messages()
	_, err := a.answer.schema.Check(all[len(all)-1].Text())
	if err == nil {
		return ""
	}
	a.answer.again = true
	a.emit(session.Notice{Text: "The answer is not valid against the JSON Schema, so the model is asked again: " + err.Error()})
	return a.answer.schema.AskAgain(err)
}
