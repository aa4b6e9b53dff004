package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// room holds the commands about the space in the model's context.
type room struct{ *Set }

func (r room) list() []command.Command {
	return []command.Command{
		{Name: "context", Args: "[full]", Help: "show what fills the model's context, or its system prompt", Group: command.Model, Run: r.context},
		{
			Name: "compact", Args: "[what matters|show|edit]", Help: "replace old messages by a summary; show or edit it",
			Group: command.Model, Idle: true, Run: r.compact,
		},
		{Name: "pin", Help: "choose prompts that compaction keeps word for word", Group: command.Model, Idle: true, Run: r.pin},
	}
}

// context draws the parts of the context or, with "full", prints the system prompt.
func (r room) context(ctx context.Context, args string) (command.Reply, error) {
	switch args {
	case "":
	case "full":
		return command.Reply{Text: r.systemPrompt(ctx)}, nil
	default:
		return command.Reply{}, errors.New("usage: /context shows what fills the context, /context full the system prompt")
	}
	fill := r.App.Loop.Fill()
	prompt := r.App.Context.Parts(ctx)
	tokens := func(text string) int64 { return int64(float64(len(text)) * fill.PerByte) }
	return command.Reply{Text: drawChart(fill.Window, fill.Context, []share{
		{Name: "System prompt", Tokens: tokens(prompt.Rules)},
		{Name: "Instructions", Tokens: tokens(prompt.Instructions)},
		{Name: "Editor", Tokens: tokens(prompt.Editor)},
		{Name: "Tools", Tokens: fill.Tools},
		{Name: "Summary", Tokens: fill.Summary},
		{Name: "Prompts", Tokens: fill.Prompts},
		{Name: "Answers", Tokens: fill.Answers},
		{Name: "Tool results", Tokens: fill.Results},
	}) + r.sources() + r.trials() + "/context full shows the system prompt.\n"}, nil
}

// sources lists the sources of the session and their owners; "" for none.
func (r room) sources() string {
	var rows [][]string
	for _, s := range r.App.Sources() {
		rows = append(rows, []string{string(s.Kind), clip.Line(s.Name), plural.Grouped(s.Bytes) + " bytes", clip.Line(s.From)})
	}
	if len(rows) == 0 {
		return ""
	}
	return "\n" + strings.Join(theme.Table(rows, 2), "\n") + "\n\n"
}

// trials returns the line about commands that ran in a copy; "" if none did.
func (r room) trials() string {
	if spared := r.App.TrialsSpared(); spared != "" {
		return spared + "\n\n"
	}
	return ""
}

func (r room) systemPrompt(ctx context.Context) string {
	text := r.App.Context.System(ctx)
	if now := r.App.Context.Editor(ctx); now != "" && !strings.HasSuffix(text, now) {
		text += "\nWith the newest message:\n" + now
	}
	return text
}

// compact compacts the conversation, or shows the summary, or opens it in an editor.
func (r room) compact(ctx context.Context, args string) (command.Reply, error) {
	loop := r.App.Loop
	switch args {
	case "show", "edit":
		summary := loop.Summary()
		if summary == "" {
			return command.Reply{}, errors.New("there is no summary yet: no messages were replaced by one")
		}
		if args == "show" {
			return command.Reply{Text: loop.Compacted()}, nil
		}
		return command.Reply{Edit: &command.Edit{Name: "summary.md", Text: summary, Then: func(_ context.Context, text string) (command.Reply, error) {
			if err := loop.SetSummary(text); err != nil {
				return command.Reply{}, err
			}
			return command.Reply{Text: "The model gets your summary from now on."}, nil
		}}}, nil
	}
	before := loop.Fill().Context
	if err := loop.Compact(ctx, args); err != nil {
		return command.Reply{}, err
	}
	return command.Reply{Text: fmt.Sprintf("Compacted, from about %s to %s tokens. The session's file keeps everything.\n\n%s\n\n/compact edit changes this summary.",
		plural.Grouped(before), plural.Grouped(loop.Fill().Context), loop.Summary())}, nil
}

// pin pins or unpins a prompt that the person chooses.
func (r room) pin(context.Context, string) (command.Reply, error) {
	prompts := r.App.Loop.Prompts()
	if len(prompts) == 0 {
		return command.Reply{}, errors.New("there is no prompt to pin yet")
	}
	slices.Reverse(prompts)
	pick := &command.Pick{Title: "Pin which prompt?"}
	for _, p := range prompts {
		state := ""
		if p.Pinned {
			state = "pinned: Enter unpins it"
		}
		pick.Items = append(pick.Items, command.Choice{ID: strconv.Itoa(p.N), Title: p.Text, Detail: joined(ago(time.Since(p.At), p.At), state)})
	}
	pick.Choose = func(_ context.Context, id string) (command.Reply, error) {
		p := prompts[slices.IndexFunc(prompts, func(p history.Prompt) bool { return strconv.Itoa(p.N) == id })]
		if err := r.App.Loop.Pin(p.N, !p.Pinned); err != nil {
			return command.Reply{}, err
		}
		if p.Pinned {
			return command.Reply{Text: "Unpinned."}, nil
		}
		return command.Reply{Text: "Pinned: compactions keep this prompt word for word."}, nil
	}
	return command.Reply{Pick: pick}, nil
}
