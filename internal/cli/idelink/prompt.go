package idelink

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// maxSelected is the number of bytes of a selection that go into a prompt.
const maxSelected = 16 << 10

// token is how a prompt names the selection.
const token = "@selection"

var selection = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|\s)@selection\b`) })

// Prompts adds to what the model is sent what the editor has to do with it. It
// belongs to the goroutine of the conversation.
type Prompts struct {
	Link  *Link // may be nil
	Block func(ctx context.Context) string

	told string // the block that was sent last
}

// Prompt returns a prompt as it is sent.
func (p *Prompts) Prompt(ctx context.Context, text string) string {
	return p.aside(ctx, expand(p.Link, text))
}

// Queued expands what was typed during a turn.
func (p *Prompts) Queued(take func() []string) func() []string {
	if take == nil {
		return nil
	}
	return func() []string {
		texts := take()
		for i, t := range texts {
			texts[i] = expand(p.Link, t)
		}
		return texts
	}
}

// expand returns a prompt that holds what it names: with @selection in it, the
// text that is selected in the editor follows.
func expand(l *Link, prompt string) string {
	if l == nil || !strings.Contains(prompt, token) || !selection().MatchString(prompt) {
		return prompt
	}
	sel := l.View.Selection()
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

// aside adds to a message what the editor shows, if that is not in the system
// prompt and is not what was told last.
func (p *Prompts) aside(ctx context.Context, message string) string {
	if p.Link == nil || !p.Link.apart {
		return message
	}
	now := p.Block(ctx)
	if now == p.told {
		return message
	}
	p.told = now
	if now == "" {
		now = "Nothing is open in the editor any more.\n"
	}
	return message + "\n\n[" + strings.TrimSuffix(now, "\n") + "]"
}

// Tools returns the tools, which know what the editor knows.
func (p *Prompts) Tools(d tools.Deps) session.Toolset {
	if p.Link == nil {
		return tools.NewSet(d)
	}
	d.Diagnostics, d.Buffers, d.Reports = p.Link.View, p.Link.View, p.Link.View
	return toolset{tools.NewSet(d), p}
}

// toolset adds the editor's state to the last result of each batch of calls.
type toolset struct {
	*tools.Set
	prompts *Prompts
}

// Call runs a tool.
func (t toolset) Call(ctx context.Context, name string, call tools.Call) (tools.Result, error) {
	res, err := t.Set.Call(ctx, name, call)
	if err == nil && call.Batch.Index == call.Batch.Total-1 {
		res.ForModel = t.prompts.aside(ctx, res.ForModel)
	}
	return res, err
}
