package app

import (
	"context"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/confirm"
	modelcontext "github.com/bb2d0cf4/agent/internal/context"
	"github.com/bb2d0cf4/agent/internal/session"
)

// guidance watches over the project's instructions for the model.
type guidance struct {
	trust setup.Instructions
	emit  func(session.Event)
	told  map[string]string // by path, the hash that the person was told about
}

// conversation has the instructions of folders, each once.
type conversation interface {
	Below(path string, trusted func(in modelcontext.Instruction) bool) (text string, refused []modelcontext.Instruction)
}

// below returns the function for tools.Deps.
func (g *guidance) below(c conversation) func(ctx context.Context, path string) string {
	return func(ctx context.Context, path string) string {
		text, refused := c.Below(path, func(in modelcontext.Instruction) bool {
			return g.trust.TrustedBelow(ctx, in.Path, in.Name, in.Hash)
		})
		for _, in := range refused {
			g.emit(session.Notice{Text: in.String()})
		}
		return text
	}
}

// answered makes the text of an instruction file trusted if a person has approved it: they
// have seen it.
func (g *guidance) answered(ctx context.Context, req confirm.Request, v confirm.Verdict) {
	if v.Decision != confirm.Approve || v.Rule {
		return
	}
	if e, ok := req.Subject.(*confirm.Edits); ok && !e.One() && !e.Review {
		return
	}
	for _, c := range req.Final(v) {
		if c.Moves() {
			c.Path = c.To
		}
		if c.Delete || !named(c.Path) {
			continue
		}
		if err := g.trust.Approve(ctx, c.Path, c.After); err != nil {
			g.emit(session.Notice{Text: c.Name + " will not be used as instructions: " + err.Error()})
		}
	}
}

// begin notes the instructions that the start of a session lists.
func (g *guidance) begin(list []modelcontext.Instruction) {
	g.told = map[string]string{}
	for _, in := range list {
		g.told[in.Path] = in.Hash
	}
}

// tell reports instructions that became untrusted in the session.
func (g *guidance) tell(list []modelcontext.Instruction) {
	for _, in := range list {
		if in.Untrusted && g.told[in.Path] != in.Hash {
			g.emit(session.Notice{Text: in.String()})
		}
		g.told[in.Path] = in.Hash
	}
}

// LeftOut names the instructions that the model does not get without trust; "" if it gets
// all.
func (a *App) LeftOut() string {
	var names []string
	for _, in := range a.Context.Instructions() {
		if in.Untrusted {
			names = append(names, in.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "ignoring instructions (not trusted yet): " + strings.Join(names, ", ") + "; run agent trust add, or pass --trust"
}
