package app

import (
	"context"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/clipboard"
	"github.com/bb2d0cf4/agent/internal/app/promptline"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// message turns a prompt into a message for the model: first the user's own changes
// since the last prompt, then the prompt, then the images and the parts of the editor's
// state that it names.
func (a *App) message(ctx context.Context, prompt string) llm.Message {
	m := llm.Message{Role: llm.User}
	if remarks := a.Remarks.Take(); remarks != "" {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: remarks, Aside: true})
	}
	if ran := a.lines.Take(); ran != "" {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: ran, Aside: true})
	}
	m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: strings.ToValidUTF8(prompt, "\uFFFD")})
	m.Parts = append(m.Parts, a.Images.Parts(prompt)...)
	if more := a.aside.Suffix(ctx, prompt); more != "" {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: strings.ToValidUTF8(more, "\uFFFD"), Aside: true})
	}
	return m
}

// newImages returns the images that the user attaches; env is the environment of the
// program that reads the clipboard.
func (a *App) newImages(env []string) *promptline.Images {
	return &promptline.Images{
		Dir:  a.Root.Dir(),
		Tell: func(note string) { a.emit(session.Notice{Text: note}) },
		Clip: func(ctx context.Context, limit int) ([]byte, error) { return clipboard.Image(ctx, env, limit) },
		Takes: func() (string, bool) {
			info := a.Info()
			return info.Name, info.Images
		},
	}
}

// newLines returns what runs the user's own command lines, with env.
func (a *App) newLines(env []string) *promptline.Lines {
	return &promptline.Lines{
		Jobs: a.jobs, Emit: a.emit,
		Options: func() shell.Options { return shell.Options{Dir: a.Root.Dir(), Env: env, SpillDir: a.spillDir()} },
		Ran: func(line, result string) {
			a.Loop.RecordDeed(history.Deed{What: "Run " + line, Result: result + ", run by the user"})
		},
	}
}
