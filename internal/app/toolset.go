package app

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/config"
	modelcontext "github.com/bb2d0cf4/agent/internal/context"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools"
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
		Root:       a.Root,
		Ask:        asker{a},
		Pending:    gathered,
		Settled:    a.hooked.reviewed,
		Jobs:       jobs,
		Background: a.jobs,
		Servers:    a.Servers,
		Pages:      web.New(web.Options{Agent: "agent/" + o.Version}),
		Sees:       func() bool { return a.Info().Images },
		Window:     func() int64 { return a.Info().ContextWindow },
		SpillDir:   a.spillDir,
		Sandbox:    a.sandbox,
		Session:    func() string { return a.Current().ID() },
		Home:       a.Config.Home,
		Env:        env,
		AskAll:     o.AsksAll(),
		Withholds:  a.Policy.Withholds,
		Below:      a.guidance.below(a.Context),
		Effects:    a.effects,
		Planning:   func() bool { return a.Policy.Mode() == permission.Plan },
		Check:      a.check.For,
	})
	a.SubAgents = a.newCrew(o.SubAgents, deps)
	deps.Agents = a.SubAgents
	a.tools = tools.NewSet(deps)
	return toolset{a.tools, a.hooked, a.modeNews, a.Context, a.edits}
}
