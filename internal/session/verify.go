package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// verifyAside tells the model to check its changes before it ends.
const verifyAside = "[You changed files and have run nothing since. Check the changes now, by the narrowest test or build; " +
	"the project has: %s. Then give the whole final answer again.]"

// verification knows whether the changes of a turn were checked.
type verification struct {
	open bool // files were changed, and nothing was run since
	told bool // the model was told: once is enough
}

// see notes the result of a call.
func (v *verification) see(res tools.Result) {
	if len(res.Changes) > 0 {
		v.open = true
	}
	if res.Ran {
		v.open = false
	}
}

// maxBack is how often Options.Ending may send a model back in a turn.
const maxBack = 8

// sendBack keeps a model that would end the turn from it, and reports whether it did. It
// does so only if another request is within the limits.
func (t *turn) sendBack(ctx context.Context) bool {
	if s, err := t.spent(); err != nil || t.limits.check(s) != nil {
		return false
	}
	return t.verify() || t.notYet(ctx)
}

// verify tells the model to check its changes, once, if the project has commands for that.
func (t *turn) verify() bool {
	l := t.loop
	if !t.checks.open || t.checks.told || l.opt.Checks == nil {
		return false
	}
	commands := l.opt.Checks()
	if len(commands) == 0 {
		return false
	}
	t.checks.told = true
	t.remind(fmt.Sprintf(verifyAside, strings.Join(commands, ", ")))
	l.opt.Emit(Notice{Text: "The model changed files and ran nothing since: it was told to check the changes."})
	return true
}

// notYet sends the model back if Options.Ending has a text for it.
func (t *turn) notYet(ctx context.Context) bool {
	l := t.loop
	if l.opt.Ending == nil {
		return false
	}
	text := l.opt.Ending(ctx, t.back > 0)
	if text == "" || ctx.Err() != nil {
		return false
	}
	if t.back++; t.back > maxBack {
		l.opt.Emit(Notice{Text: fmt.Sprintf("The turn ends, although a hook sent the model back %d times.", maxBack)})
		return false
	}
	t.remind(text)
	return true
}

// remind adds a message to the model that the user did not write.
func (t *turn) remind(text string) {
	t.loop.append(history.Item{Message: llm.Message{Role: llm.User, Parts: []llm.Part{{Kind: llm.TextPart, Text: text, Aside: true}}}})
}
