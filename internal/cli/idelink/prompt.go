package idelink

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/tools"
)

// maxSelected is the number of bytes of a selection that go into a prompt.
const maxSelected = 16 << 10

// token is how a prompt names the selection.
const token = "@selection"

var selection = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|\s)@selection\b`) })

// Expand returns a prompt that holds what it names: with @selection in it, the
// text that is selected in the editor follows.
func (l *Link) Expand(prompt string) string {
	if !strings.Contains(prompt, token) || !selection().MatchString(prompt) {
		return prompt
	}
	sel := l.Selection()
	if sel == nil {
		return prompt + "\n\n(Nothing is selected in the editor.)"
	}
	text, cut := sel.Text, ""
	if len(text) > maxSelected {
		text = strings.ToValidUTF8(text[:maxSelected], "")
		cut = fmt.Sprintf(", its first %d KiB", maxSelected>>10)
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("%s\n\n%s is %s%s%s:\n%s\n%s\n%s", prompt, token,
		l.name(sel.Path), lines(":", sel.StartLine, "-", sel.EndLine), cut, fence, strings.TrimSuffix(text, "\n"), fence)
}

// Block tells what the editor shows.
type Block func(ctx context.Context) string

// Aside adds to a message what the editor shows, if that is not in the system
// prompt and is not what was told last.
func (l *Link) Aside(ctx context.Context, message string, block Block) string {
	if l.place != "message" {
		return message
	}
	now := block(ctx)
	if now == l.told {
		return message
	}
	l.told = now
	if now == "" {
		now = "Nothing is open in the editor any more.\n"
	}
	return message + "\n\n[" + strings.TrimSuffix(now, "\n") + "]"
}

// Toolset adds the editor's state to the last result of each batch of calls.
type Toolset struct {
	*tools.Set
	Link  *Link
	Block Block
}

// Call runs a tool.
func (t Toolset) Call(ctx context.Context, name string, call tools.Call) (tools.Result, error) {
	res, err := t.Set.Call(ctx, name, call)
	if err == nil && call.Batch.Index == call.Batch.Total-1 {
		res.ForModel = t.Link.Aside(ctx, res.ForModel, t.Block)
	}
	return res, err
}
