package firstrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/cli/keystore"
	"github.com/bb2d0cf4/agent/internal/cli/settings"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/openai"
	"github.com/bb2d0cf4/agent/internal/repl/dialog"
	"github.com/bb2d0cf4/agent/internal/repl/picker"
)

// askTime bounds what a hosted server may take to list its models.
const askTime = 15 * time.Second

// hosted are the providers that want a key.
var hosted = []struct{ provider, title string }{{"openai", "OpenAI"}, {"openrouter", "OpenRouter"}}

// preferred are the models to begin with, the best known first; another is a /model away.
var preferred = []string{"gpt-5.1", "gpt-5", "gpt-4.1", "gpt-4o", "openrouter/auto"}

// Suggestion is a first prompt.
const Suggestion = "Try: What does this project do, and how is it tested?"

// option is a way to a model.
type option struct {
	ref      string // of a model that a local server offers
	provider string // else: whose key there is, or is to be typed
	paste    bool
}

// Model lets a person choose a model, keeps the choice, and returns it with what they
// should know of it.
func Model(ctx context.Context, t dialog.Terminal, cfg config.Config) (ref string, notes []string, err error) {
	options, items := ways(ctx, cfg)
	page := dialog.Page{Title: "Which model?", Choices: items, Text: []string{
		"Models on this machine were looked for where Ollama, LM Studio, llama.cpp and vLLM listen. docs/configuration.md says how to name other servers; agent demo works without a model.",
	}}
	a, err := dialog.Ask(ctx, t, page)
	if err != nil {
		return "", nil, left(err)
	}
	o := options[a.Choice]
	if ref = o.ref; ref == "" {
		if ref, notes, err = byKey(ctx, t, cfg, o); err != nil {
			return "", nil, left(err)
		}
	}
	if err := settings.Set(ctx, "model", ref); err != nil {
		return "", nil, err
	}
	return ref, append(notes, "using "+ref+"; /model chooses another, agent config model asks again", Suggestion), nil
}

func left(err error) error {
	if errors.Is(err, ErrLeft) {
		return fmt.Errorf("%w: no model was chosen; agent asks again, or name one with --model", ErrLeft)
	}
	return err
}

// ways lists what can be chosen: first what is there already.
func ways(ctx context.Context, cfg config.Config) (options []option, items []picker.Item) {
	add := func(o option, title, detail string) {
		options, items = append(options, o), append(items, picker.Item{Title: title, Detail: detail})
	}
	servers := openai.LocalServers()
	for i, s := range servers {
		if m, err := cfg.Lookup(s.Name + "/x"); err == nil {
			servers[i].BaseURL = m.Endpoint.BaseURL
		}
	}
	for _, s := range openai.FindLocals(ctx, servers) {
		for _, m := range s.Models {
			add(option{ref: s.Name + "/" + m.ID}, s.Name+"/"+m.ID, "on this machine")
		}
	}
	for _, paste := range []bool{false, true} {
		for _, h := range hosted {
			m, err := cfg.Lookup(h.provider + "/x")
			if err != nil || m.Endpoint.APIKeyEnv == "" {
				continue
			}
			switch has := os.Getenv(m.Endpoint.APIKeyEnv) != ""; {
			case has && !paste:
				add(option{provider: h.provider}, h.title, "with the key in "+m.Endpoint.APIKeyEnv)
			case !has && paste:
				add(option{provider: h.provider, paste: true}, h.title+", with a key that you paste", "")
			}
		}
	}
	return options, items
}

// byKey finds a model of a server that wants a key, and keeps a key that was typed once
// the server has taken it.
func byKey(ctx context.Context, t dialog.Terminal, cfg config.Config, o option) (ref string, notes []string, err error) {
	m, err := cfg.Lookup(o.provider + "/x")
	if err != nil {
		return "", nil, err
	}
	address := m.Endpoint.BaseURL
	if !o.paste {
		ref, err = first(ctx, o.provider, address, os.Getenv(m.Endpoint.APIKeyEnv))
		return ref, nil, err
	}
	page := dialog.Page{Title: "Paste the key for " + openai.Shown(address), Secret: "Key", Text: []string{
		"It is not shown. It is kept in the system's keyring, or else in a file that only you can read.",
	}}
	for {
		a, err := dialog.Ask(ctx, t, page)
		if err != nil {
			return "", nil, err
		}
		ref, err := first(ctx, o.provider, address, a.Secret)
		if refused := new(llm.Error); errors.As(err, &refused) && refused.Kind == llm.Unauthorized {
			page.Text = []string{refused.Message}
			continue
		}
		if err != nil {
			return "", nil, err
		}
		where, err := keystore.Open(cfg.Home).Put(ctx, address, a.Secret)
		return ref, []string{"the key is kept in " + where}, err
	}
}

// first asks a server for its models with a key, and returns the one to begin with.
func first(ctx context.Context, provider, address, key string) (ref string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	models, err := openai.New(openai.Options{
		Name: provider, BaseURL: address, Key: func(context.Context) (string, error) { return key, nil },
	}).ListModels(ctx)
	if err != nil {
		return "", err
	}
	for _, name := range preferred {
		if slices.ContainsFunc(models, func(m openai.ModelInfo) bool { return m.ID == name }) {
			return provider + "/" + name, nil
		}
	}
	for _, m := range models {
		if !strings.Contains(strings.ToLower(m.ID), "embed") {
			return provider + "/" + m.ID, nil
		}
	}
	return "", fmt.Errorf("%s lists no model", openai.Shown(address))
}
