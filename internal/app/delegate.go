package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"iter"

	"github.com/bb2d0cf4/agent/internal/app/provider"
	"github.com/bb2d0cf4/agent/internal/app/subagents"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// delegated tells a sub-agent about its situation.
const delegated = "\n\nYou are a sub-agent: another agent has given you the task in the first message. It sees only your last answer, and you cannot ask it anything. " +
	"End with what it needs: results with their places in files, without an account of your steps. If you cannot do the task, say why."

// newCrew returns a crew of sub-agents with these tools.
func (a *App) newCrew(defined []subagents.Definition, with tools.Deps) *subagents.Crew {
	return subagents.New(subagents.Options{Defined: defined, Equip: func(ctx context.Context, d subagents.Definition, origin string) subagents.Equipment {
		own := with
		own.Ask, own.Background, own.Pending, own.Holds = onBehalf{with.Ask, origin}, nil, nil, false
		apart := a.Context.Apart()
		own.Below = a.guidance.below(apart)
		model, note := a.modelOf(ctx, d)
		if !d.Searches() {
			model = offline{model}
		}
		own.Sees = func() bool { return model.Info().Images }
		set := tools.NewSet(own)
		set.Offer(d.Tools)
		whole := "task-" + rand.Text() + ".md"
		e := subagents.Equipment{
			Model: model, Tools: hookedSet{set, a.hooked, own.Ask}, System: a.lastSystem() + delegated, CompactAt: a.Config.Limits.CompactAt, Note: note, Shortened: apart.Retell,
			SaveFull: func(_, text string) (string, error) { return a.keepAs(a.Current().ID(), whole, text) },
		}
		if d.Role != "" {
			e.System += "\n\n" + d.Role
		}
		return e
	}})
}

// offline is a model whose provider may not search the web by itself.
type offline struct{ llm.Model }

// Stream implements llm.Model.
func (o offline) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	req.Offline = true
	return o.Model.Stream(ctx, req)
}

// modelOf returns the model of a definition, or that of the session with a note why.
func (a *App) modelOf(ctx context.Context, d subagents.Definition) (m llm.Model, note string) {
	a.mu.Lock()
	m = a.now.sends
	a.mu.Unlock()
	if d.Model == "" {
		return m, ""
	}
	ref, err := a.Config.Lookup(d.Model)
	if err == nil {
		ref, _ = provider.Inspect(ctx, a.Config, ref) // its problems are those of the task
		var own llm.Model
		if own, err = provider.New(a.Config, ref); err == nil {
			return own, ""
		}
	}
	return m, "The model " + d.Model + " cannot be used, so that of the session is: " + err.Error()
}

// lastSystem returns the latest system prompt.
func (a *App) lastSystem() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now.system
}

// onBehalf asks the questions of a sub-agent.
type onBehalf struct {
	tools.Asker
	origin string
}

// Ask asks the person, unless a rule answers.
func (o onBehalf) Ask(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	req.Origin = cmp.Or(req.Origin, o.origin)
	return o.Asker.Ask(ctx, req)
}
