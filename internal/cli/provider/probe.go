package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm/openai/local"
)

// What a model's context, in tokens, is judged by: the instructions and the tools alone
// take about half of least.
const (
	least  = 8 << 10
	enough = 16 << 10
)

// own are the providers of servers that people run themselves, wherever.
var own = map[string]bool{"ollama": true, "lmstudio": true, "llamacpp": true, "vllm": true}

// Inspect asks a server of the user's own what it says about m, before there is a turn
// to fail. It returns m with what is known: the size of its context, unless the
// configuration says one, and whether it can call tools; and what will not work, with
// what to do. It takes three seconds at most, much less as a rule; other servers are
// asked nothing.
func Inspect(ctx context.Context, m config.Model) (config.Model, []string) {
	m, facts, err := Look(ctx, m)
	switch {
	case err == nil:
		return m, notes(m, facts)
	case ctx.Err() != nil:
		return m, nil
	}
	return m, []string{err.Error()}
}

// Facts is what a server says about a model.
type Facts struct {
	local.Facts
	Refusal string // of a request with tools, in the server's words
	set     bool   // the configuration names the size of the context
}

// Look is Inspect without the judgement; an error is that of the server.
func Look(ctx context.Context, m config.Model) (config.Model, Facts, error) {
	f := Facts{set: m.Prices.ContextWindow > 0}
	if m.Provider == config.ScriptProvider || !free(m) || !own[m.Provider] && !local.On(m.Endpoint.BaseURL) {
		return m, f, nil // a key is asked for when it is needed
	}
	var err error
	if f.Facts, err = local.Probe(ctx, m.Endpoint.BaseURL, m.Name); err != nil {
		return m, f, err
	}
	if f.Server == "llamacpp" || f.Server == "vllm" {
		f.Refusal = local.RefusesTools(ctx, m.Endpoint.BaseURL, m.Name)
		f.NoTools = f.Refusal != ""
	}
	if !f.set {
		m.Prices.ContextWindow = f.ContextWindow
	}
	m.NoTools = f.NoTools
	return m, f, nil
}

// Summary is what is known, in a few words; empty if nothing is.
func (f Facts) Summary() string {
	var parts []string
	if f.ContextWindow > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens of context", f.ContextWindow))
	}
	if f.MaxContext > f.ContextWindow {
		parts = append(parts, fmt.Sprintf("the model takes %d", f.MaxContext))
	}
	if f.NoTools {
		parts = append(parts, "no tools")
	}
	return strings.Join(parts, ", ")
}

// notes says what will not work.
func notes(m config.Model, f Facts) (list []string) {
	if f.NoTools {
		list = append(list, m.Ref+" cannot call tools: it can talk, but it can neither read nor change files, nor run commands. "+withTools(f))
	}
	if f.Untrained {
		list = append(list, "LM Studio says that "+m.Ref+" was not trained to call tools: expect wrong calls, and files that it does not read. /model chooses another")
	}
	window := m.Prices.ContextWindow
	switch {
	case f.set && f.ContextWindow > 0 && window > f.ContextWindow:
		list = append(list, fmt.Sprintf("%s is served with %d tokens of context, but context_window in your configuration says %d: what is over is lost. %s", m.Ref, f.ContextWindow, window, larger(f)))
	case window > 0 && window < least:
		list = append(list, fmt.Sprintf("%s is served with %d tokens of context, which is too little to work on files: the instructions and the tools alone take about %d. %s", m.Ref, window, least/2, larger(f)))
	case window > 0 && window < enough:
		list = append(list, fmt.Sprintf("%s is served with %d tokens of context, which is little: the conversation will be compacted often. %s", m.Ref, window, larger(f)))
	case window == 0 && f.Server == "ollama":
		list = append(list, fmt.Sprintf("Ollama does not say how much context it gives %s: it may be as little as 4096 tokens, and it cuts what is over in silence. %s", m.Ref, larger(f)))
	case window == 0 && f.NotLoaded:
		list = append(list, fmt.Sprintf("LM Studio has not loaded %s yet, and does not say how much context it will give it: it may be as little as 4096 tokens. %s", m.Ref, larger(f)))
	}
	return list
}

// withTools says how a server lets a model call tools.
func withTools(f Facts) string {
	switch f.Server {
	case "llamacpp":
		return "Start llama-server with --jinja; it says: " + f.Refusal
	case "vllm":
		return "Start vLLM with --enable-auto-tool-choice and the --tool-call-parser of this model; it says: " + f.Refusal
	}
	return "/model chooses another; ollama.com/search?c=tools lists some that can"
}

// larger says how a server gives a model more context.
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
