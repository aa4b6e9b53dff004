package app

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/config"
	modelcontext "github.com/bb2d0cf4/agent/internal/context"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/tools/access"
	"github.com/bb2d0cf4/agent/internal/tools/change"
	"github.com/bb2d0cf4/agent/internal/tools/pending"
	"github.com/bb2d0cf4/agent/internal/tools/web"
)

// toolset is the tools, which append the editor's state and a new permission mode to the
// last result of a batch.
type toolset struct {
	*tools.Set
	hooked   *hooked
	modeNews *modeNews
	context  *modelcontext.Builder
	edits    func() string // the choice of tools for changing files, see config.Model.Edits
}

// Specs describes the tools that suit the model in use.
func (t toolset) Specs() []llm.ToolSpec {
	switch t.edits() {
	case config.EditsReplace:
		return t.Offered("edit_file", "write_file", "delete_file", "move_file")
	case config.EditsPatch:
		return t.Offered("patch", "write_file", "delete_file", "move_file")
	}
	return t.Set.Specs()
}

// Call runs a tool.
func (t toolset) Call(ctx context.Context, name string, call tools.Call) (tools.Result, error) {
	res, err := t.hooked.call(ctx, asker{t.hooked.app}, t.Set, name, call)
	if err == nil && call.Batch.Index == call.Batch.Total-1 {
		if news := t.context.EditorNews(ctx); news != "" {
			res.ForModel += "\n\n" + news
		}
		if news := t.modeNews.take(); news != "" {
			res.ForModel += "\n\n" + news
		}
	}
	return res, err
}

// newTools returns the tools, which run commands with env.
func (a *App) newTools(env []string, o Options) toolset {
	var gathered *pending.Changes
	if a.Config.Review == config.ReviewTurn {
		gathered = &pending.Changes{}
	}
	var jobs tools.Commands = a.jobs
	if o.Commands != nil {
		jobs = o.Commands(jobs, a.Config.SecretEnv())
	}
	deps := a.Editor.Equip(tools.Deps{
		Deps: change.Deps{
			Files:   access.Files{Root: a.Root, Home: a.Config.Home, Withholds: a.Policy.Withholds},
			Ask:     asker{a},
			Pending: gathered,
			Settled: a.hooked.reviewed,
			Check:   a.check.For,
			Session: func() string { return a.Current().ID() },
		},
		Reading: tools.Reading{
			Sees:   func() bool { return a.Info().Images },
			Window: func() int64 { return a.Info().ContextWindow },
			Below:  a.guidance.below(a.Context),
		},
		Shell: tools.Shell{
			Jobs: jobs, Background: a.jobs, Effects: a.effects, Env: env, AskAll: o.AsksAll(), SpillDir: a.spillDir, Sandbox: a.sandbox, Holds: true,
		},
		Servers:  a.Servers,
		Mine:     a.openMine,
		Pages:    web.New(web.Options{Agent: "agent/" + o.Version}),
		Planning: func() bool { return a.Policy.Mode() == permission.Plan },
	})
	if a.languages != nil {
		deps.Languages, deps.Reports = a.languages, reports{a.Editor.View, a.languages}
	}
	if a.trials != nil {
		deps.Trials, deps.OnlyTrials = a.trials, a.Config.Trial == "required"
	}
	a.SubAgents = a.newCrew(o.SubAgents, deps)
	deps.Agents = a.SubAgents
	a.tools = tools.NewSet(deps)
	return toolset{a.tools, a.hooked, a.modeNews, a.Context, a.edits}
}
