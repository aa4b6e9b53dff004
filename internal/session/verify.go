package session

import (
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

// sendBack tells a model that would end the turn to check its changes, and reports
// whether it did. It does so once, if the project has commands for that, and another
// request is within the limits.
func (t *turn) sendBack() bool {
	l := t.loop
	if !t.checks.open || t.checks.told || l.opt.Checks == nil {
		return false
	}
	commands := l.opt.Checks()
	if s, err := t.spent(); len(commands) == 0 || err != nil || t.limits.check(s) != nil {
		return false
	}
	t.checks.told = true
	text := fmt.Sprintf(verifyAside, strings.Join(commands, ", "))
	l.append(history.Item{Message: llm.Message{Role: llm.User, Parts: []llm.Part{{Kind: llm.TextPart, Text: text, Aside: true}}}})
	l.opt.Emit(Notice{Text: "The model changed files and ran nothing since: it was told to check the changes."})
	return true
}
