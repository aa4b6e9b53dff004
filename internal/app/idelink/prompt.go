package idelink

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// maxSelected is how many bytes of a selection go into a prompt.
const maxSelected = 16 << 10

// Names are the words that, behind an @, put a part of the editor's state into a prompt.
var Names = []string{"selection", "diagnostics"}

var named = lazyregexp.New(`(?:^|\s)@(` + strings.Join(Names, "|") + `)\b`)

// Prompts adds the editor's state to the messages for the model. It belongs to the
// goroutine of the conversation.
type Prompts struct {
	link  *Link
	block func(ctx context.Context) string // describes the editor's state
	tools *tools.Set
	sent  string // the newest block that was sent
}

// Prompts returns the Prompts of a conversation: block describes the editor's state, and
// set has the model's own tools.
func (l *Link) Prompts(block func(ctx context.Context) string, set *tools.Set) *Prompts {
	return &Prompts{link: l, block: block, tools: set}
}

// Suffix returns the text to append to a prompt: the parts of the editor's state that it
// names and, if the state is not in the system prompt, the state.
func (p *Prompts) Suffix(ctx context.Context, prompt string) string {
	return p.Append(ctx, p.expand(ctx, prompt))
}

// expand returns the text that a prompt names: the selection for @selection, the
// editor's findings for @diagnostics.
func (p *Prompts) expand(ctx context.Context, prompt string) string {
	if p.link.off || !strings.Contains(prompt, "@") {
		return ""
	}
	var b strings.Builder
	var done []string
	for _, found := range named.FindAllStringSubmatch(prompt, -1) {
		if name := found[1]; !slices.Contains(done, name) {
			done = append(done, name)
			if name == "selection" {
				b.WriteString("\n\n" + p.link.selected())
			} else {
				b.WriteString("\n\n@diagnostics of the editor:\n" + p.diagnostics(ctx))
			}
		}
	}
	return b.String()
}

// selected describes the selection.
func (l *Link) selected() string {
	sel := l.View.Selection()
	if sel == nil {
		return "(Nothing is selected in the editor.)"
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
	return fmt.Sprintf("@selection is %s%s%s:\n%s\n%s\n%s",
		l.name(sel.Path), lines(":", sel.StartLine, "-", sel.EndLine), cut, fence, strings.TrimSuffix(text, "\n"), fence)
}

// diagnostics returns the result of the model's own tool.
func (p *Prompts) diagnostics(ctx context.Context) string {
	res, err := p.tools.Call(ctx, "get_diagnostics", tools.Call{Args: json.RawMessage("{}")})
	if err != nil {
		return "not available: " + err.Error()
	}
	return res.ForModel
}

// Forget makes the next message describe the editor's state again.
func (p *Prompts) Forget() { p.sent = "" }

// Append appends the editor's state to a message if the system prompt does not hold it
// and it has changed since it was last sent.
func (p *Prompts) Append(ctx context.Context, message string) string {
	if !p.link.apart {
		return message
	}
	now := p.block(ctx)
	if now == p.sent {
		return message
	}
	p.sent = now
	if now == "" {
		now = "Nothing is open in the editor any more.\n"
	}
	return message + "\n\n[" + strings.TrimSuffix(now, "\n") + "]"
}
