package provider

import (
	"context"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm/openai/local"
)

// enough is the context, in tokens, below which a session is short of breath: the
// instructions and the tools alone take some thousands.
const enough = 16 << 10

// own are the providers of servers that people run themselves, wherever.
var own = map[string]bool{"ollama": true, "lmstudio": true, "llamacpp": true, "vllm": true}

// Inspect asks a server of the user's own what it says about m, before there is a turn
// to fail. It returns m with the size of its context, unless the configuration says
// one, and what will not work, with what to do. It takes a second at most; other
// servers are asked nothing.
func Inspect(ctx context.Context, m config.Model) (config.Model, []string) {
	if m.Provider == config.ScriptProvider {
		return m, nil
	}
	if !free(m) || !own[m.Provider] && !local.On(m.Endpoint.BaseURL) {
		return m, nil // a key is asked for when it is needed
	}
	facts, err := local.Probe(ctx, m.Endpoint.BaseURL, m.Name)
	if err != nil {
		if ctx.Err() != nil {
			return m, nil
		}
		return m, []string{err.Error()}
	}
	set := m.Prices.ContextWindow > 0
	if !set {
		m.Prices.ContextWindow = facts.ContextWindow
	}
	return m, notes(m, facts, set)
}

// notes says what will not work. set says that the configuration names the size of the
// context.
func notes(m config.Model, f local.Facts, set bool) (list []string) {
	if f.NoTools {
		list = append(list, m.Ref+" cannot call tools, its server says: it can talk, but neither read nor change files. Choose a model with tools (/model)")
	}
	window := m.Prices.ContextWindow
	switch {
	case set && f.ContextWindow > 0 && window > f.ContextWindow:
		list = append(list, fmt.Sprintf("%s is served with %d tokens of context, but context_window in your configuration says %d: what is over is lost. %s", m.Ref, f.ContextWindow, window, larger(m, f)))
	case window > 0 && window < enough:
		list = append(list, fmt.Sprintf("%s is served with %d tokens of context, which is little: the conversation will be compacted often. %s", m.Ref, window, larger(m, f)))
	case window == 0 && f.Server == "ollama":
		list = append(list, fmt.Sprintf("Ollama does not say how much context it gives %s: it may be as little as 4096 tokens, and it cuts what is over in silence. %s", m.Ref, larger(m, f)))
	}
	return list
}

// larger says how a server gives a model more context.
func larger(m config.Model, f local.Facts) string {
	most := ""
	if f.MaxContext > 0 {
		most = fmt.Sprintf(" (the model takes %d)", f.MaxContext)
	}
	switch f.Server {
	case "ollama":
		return "Start it with OLLAMA_CONTEXT_LENGTH=32768, or set num_ctx in the model's Modelfile" + most + "; then set context_window to the same"
	case "lmstudio":
		return "Load the model with a larger context length" + most
	case "llamacpp":
		return "Start the server with a larger -c"
	case "vllm":
		return "Start the server with a larger --max-model-len"
	}
	return "Give the model's server a larger context"
}
