package provider

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/app/allowedservers"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm/openai/local"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
	"github.com/bb2d0cf4/agent/internal/timelimit"
)

// Sizes of a model's context in tokens: the start of every request, the least that
// leaves room for a file and an answer, and enough.
const (
	Overhead = 1750
	least    = 8 << 10
	enough   = 16 << 10
)

// Inspect asks a server that the user runs about m, before a turn can fail, and a hosted one at
// times. It returns m completed with the size of its context, unless the configuration sets it, and
// with its ability to call tools; the notes list the problems and their remedies. It takes
// at most three seconds, usually much less, and asks other servers nothing.
func Inspect(ctx context.Context, cfg config.Config, m config.Model) (config.Model, []string) {
	m, facts, err := Look(ctx, cfg, m)
	switch {
	case err == nil:
		var notes []string
		for _, p := range Problems(m, facts) {
			notes = append(notes, p.String())
		}
		return m, notes
	case ctx.Err() != nil:
		return m, nil
	}
	return m, []string{err.Error()}
}

// Facts are a server's statements about a model.
type Facts struct {
	local.Facts
	Refusal string // of a request with tools, in the server's words
	set     bool   // the configuration sets the size of the context
}

// Look is Inspect without the notes; an error is that of the server.
func Look(ctx context.Context, cfg config.Config, m config.Model) (config.Model, Facts, error) {
	f := Facts{set: m.Options.ContextWindow > 0}
	if !inspects(m) {
		return hosted(ctx, cfg, m), f, nil
	}
	m = locate(ctx, cfg, m)
	err := allowedservers.Open(cfg.Home).Permit(m)
	if err != nil {
		return m, f, err
	}
	if f.Facts, err = local.Probe(ctx, m.Endpoint.BaseURL, m.Name); err != nil {
		return m, f, err
	}
	if f.Server == "llamacpp" || f.Server == "vllm" {
		f.Refusal = local.RefusesTools(ctx, m.Endpoint.BaseURL, m.Name)
		f.NoTools = f.Refusal != ""
	}
	if !f.set {
		m.Options.ContextWindow = f.ContextWindow
	}
	m.NoTools = f.NoTools
	return m, f, nil
}

// locate returns m at that of its usual addresses where a server has it, else at the first where
// one answers.
func locate(ctx context.Context, cfg config.Config, m config.Model) config.Model {
	if len(m.Usual()) < 2 {
		return m
	}
	var servers []remote.Local
	for _, address := range allowedservers.Open(cfg.Home).Reachable(m) {
		servers = append(servers, remote.Local{Name: m.Provider, BaseURL: address})
	}
	found := remote.FindLocals(ctx, servers)
	has := func(s remote.Local) bool {
		return slices.ContainsFunc(s.Models, func(i remote.ModelInfo) bool { return i.ID == m.Name })
	}
	if i := slices.IndexFunc(found, has); i > 0 {
		found = found[i:]
	}
	if len(found) > 0 {
		m.Endpoint.BaseURL = found[0].BaseURL
	}
	return m
}

// Summary returns the known facts in a few words, the worst first, or "".
func (f Facts) Summary() string {
	var parts []string
	switch {
	case f.NoTools:
		parts = append(parts, "no tools")
	case f.Untrained:
		parts = append(parts, "not trained for tools")
	}
	if f.ContextWindow > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens of context", f.ContextWindow))
	}
	if f.MaxContext > f.ContextWindow {
		parts = append(parts, fmt.Sprintf("the model takes up to %d", f.MaxContext))
	}
	return strings.Join(parts, ", ")
}

// Offer is a model to choose, with a summary of its known facts.
type Offer struct{ Ref, Detail string }

// offersTime bounds the wait for a provider's list of models.
const offersTime = 10 * time.Second

// Offers lists the models of m's provider.
func Offers(ctx context.Context, cfg config.Config, m config.Model) ([]Offer, error) {
	if m.Provider == config.ScriptProvider {
		return []Offer{{Ref: m.Ref}}, nil
	}
	if err := allowedservers.Open(cfg.Home).Permit(m); err != nil {
		return nil, err
	}
	ctx, cancel := timelimit.Context(ctx, offersTime)
	defer cancel()
	models, err := Client(cfg, m).ListModels(ctx)
	if err != nil {
		return nil, timelimit.Explain(ctx, err)
	}
	models = remote.ChatModels(models)
	facts := make([]local.Facts, len(models))
	if inspects(m) {
		asked := make([]local.Model, len(models))
		for i, info := range models {
			asked[i] = local.Model{Address: m.Endpoint.BaseURL, Name: info.ID}
		}
		facts = local.ProbeAll(ctx, asked)
	}
	offers := make([]Offer, len(models))
	for i, info := range models {
		if facts[i].ContextWindow == 0 && facts[i].MaxContext == 0 {
			facts[i].ContextWindow = info.ContextWindow
		}
		offers[i] = Offer{m.Provider + "/" + info.ID, Facts{Facts: facts[i]}.Summary()}
	}
	return offers, nil
}

// inspects reports whether the user runs m's server, so that it may be asked about more
// than its models.
func inspects(m config.Model) bool {
	return m.Provider != config.ScriptProvider && free(m) && (config.Local(m.Provider) || local.On(m.Endpoint.BaseURL))
}

// Problem is a limitation of a model.
type Problem struct {
	What, Means, Do string
	Fatal           bool // the model cannot work here at all
}

func (p Problem) String() string { return p.What + ": " + p.Means + ". " + p.Do }

// Problems lists the limitations of a model.
func Problems(m config.Model, f Facts) (list []Problem) {
	if f.NoTools {
		list = append(list, Problem{m.Ref + " cannot call tools", "it can chat, but it cannot read or change files or run commands", withTools(f), true})
	}
	if f.Untrained {
		list = append(list, Problem{m.Ref + " was not trained to call tools, according to LM Studio", "expect wrong calls and unread files", "Choose another with /model or agent config model", false})
	}
	window := m.Options.ContextWindow
	served := fmt.Sprintf("%s is served with %d tokens of context", m.Ref, window)
	switch {
	case f.set && f.ContextWindow > 0 && window > f.ContextWindow:
		what := fmt.Sprintf("%s is served with %d tokens of context, but context_window in your configuration is %d", m.Ref, f.ContextWindow, window)
		list = append(list, Problem{what, "the server drops the excess", larger(f), false})
	case window > 0 && window < least:
		means := fmt.Sprintf("that is too little to work on files, as the instructions and the tools alone take about %d", Overhead)
		list = append(list, Problem{served, means, larger(f), true})
	case window > 0 && window < enough:
		list = append(list, Problem{served, "that is little, and the conversation will be compacted often", larger(f), false})
	case window == 0 && f.Server == "ollama" && !f.NoTools:
		list = append(list, Problem{"Ollama does not report the size of the context it gives " + m.Ref, local.UnknownContext, larger(f), false})
	case window == 0 && f.NotLoaded:
		list = append(list, Problem{"LM Studio has not loaded " + m.Ref + " yet", "the size of its context is unknown, and may be as small as 4096 tokens", larger(f), false})
	}
	return list
}

// withTools returns the remedy if a server's model cannot call tools.
func withTools(f Facts) string {
	switch f.Server {
	case "llamacpp":
		return "Start llama-server with --jinja; its error: " + f.Refusal
	case "vllm":
		return "Start vLLM with --enable-auto-tool-choice and the --tool-call-parser of this model; its error: " + f.Refusal
	}
	return "Choose another with /model or agent config model; ollama.com/search?c=tools lists some that can"
}

// larger returns the remedy for too small a context.
func larger(f Facts) string {
	most := ""
	if f.MaxContext > 0 {
		most = fmt.Sprintf(" (the model takes %d)", f.MaxContext)
	}
	switch f.Server {
	case "ollama":
		return "Start it with OLLAMA_CONTEXT_LENGTH=32768" + most + ", or let agent config model make a copy of the model that asks for more"
	case "lmstudio":
		return "Load the model with a larger context length" + most
	case "llamacpp":
		return "Start the server with a larger -c"
	case "vllm":
		return "Start the server with a larger --max-model-len"
	}
	return "Give the model's server a larger context"
}
