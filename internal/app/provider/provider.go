// Package provider makes the configured model. It guarantees that it connects to
// nothing and asks for no key before the first request, and that a command that prints
// a key sees no other key.
package provider

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/app/allowedservers"
	"github.com/bb2d0cf4/agent/internal/app/keystore"
	"github.com/bb2d0cf4/agent/internal/child"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/anthropic"
	"github.com/bb2d0cf4/agent/internal/llm/openai"
	"github.com/bb2d0cf4/agent/internal/llm/openai/local"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
	"github.com/bb2d0cf4/agent/internal/llm/responses"
	"github.com/bb2d0cf4/agent/internal/llm/script"
	"github.com/bb2d0cf4/agent/internal/llm/written"
	"github.com/bb2d0cf4/agent/internal/lookpath"
	"github.com/bb2d0cf4/agent/internal/timelimit"
)

// keyTime bounds the command that prints a key, which may ask for a passphrase.
const keyTime = time.Minute

// maxOutput is how many bytes of that command's output are read.
const maxOutput = 64 << 10

// ErrNoModel reports that no model is configured, and lists the remedies.
var ErrNoModel = errors.New(`no model is configured. Do one of these:
  agent, on a terminal: asks for a model, and for its key
  export OPENAI_API_KEY=… AGENT_MODEL=openai/NAME
  agent config set model ollama/NAME (or lmstudio, llamacpp, vllm), for a server on this machine
  agent demo, to see it work offline`)

// Choose returns the configured model. The error is a mistake in the configuration or
// an *allowedservers.UnaskedError.
func Choose(cfg config.Config) (m config.Model, err error) {
	if cfg.Model == "" {
		return m, ErrNoModel
	}
	if m, err = cfg.Lookup(cfg.Model); err != nil {
		return m, err
	}
	return m, allowedservers.Open(cfg.Home).Permit(m)
}

// New makes the model without connecting or asking for a key. A missing key or a server
// that nobody allowed is an error.
func New(cfg config.Config, m config.Model) (llm.Model, error) {
	if m.Provider == config.ScriptProvider {
		scripted, err := script.Load(m.Name)
		if err != nil {
			return nil, err
		}
		return scripted, nil
	}
	if err := allowedservers.Open(cfg.Home).Permit(m); err != nil {
		return nil, err
	}
	if err := MissingKey(cfg, m); err != nil {
		return nil, err
	}
	client, memory := newClient(cfg, m)
	answers := llm.Model(client)
	if readsWritten(m) {
		answers = written.Model{Model: client}
	}
	return model{answers, m.Options.Images == nil || *m.Options.Images, m.NoTools, m.Options.Effort, memory}, nil
}

// readsWritten reports whether calls in the text of m's answers are read: no recorded
// answer of a hosted model has one.
func readsWritten(m config.Model) bool {
	if m.Options.WrittenCalls != nil {
		return *m.Options.WrittenCalls
	}
	return local.On(m.Endpoint.BaseURL)
}

// Client is New for a model that is not a script.
func Client(cfg config.Config, m config.Model) *remote.Client {
	client, _ := newClient(cfg, m)
	return client
}

// newClient is Client, with a memory for the protocol.
func newClient(cfg config.Config, m config.Model) (*remote.Client, *memory) {
	opt := remote.Options{
		Name: m.Ref, BaseURL: m.Endpoint.BaseURL, Headers: m.Endpoint.Headers,
		Key:           func(ctx context.Context) (string, error) { return key(ctx, m.Endpoint, cfg) },
		ContextWindow: m.Options.ContextWindow,
		Free:          free(m),
		Local:         local.Near(m.Endpoint.BaseURL),
		Prices:        remote.Prices{Input: m.Options.Input, Output: m.Options.Output, Cached: m.Options.Cached, Written: m.Options.Written},
		Limits:        remote.Limits{Idle: cfg.Limits.IdleTimeout},
		Check:         allowedservers.Open(cfg.Home).Check,
	}
	plan := SignedIn(cfg, m)
	if plan {
		source := SignIns(cfg).Source(m.Endpoint.BaseURL)
		opt.Key = func(ctx context.Context) (string, error) { return source.Token(ctx, "") }
		opt.Renew, opt.Free, opt.Prices = source.Token, true, remote.Prices{}
	}
	store := OpenDialects(cfg.Home)
	last := store.find(m)
	o := m.Options
	switch m.Wire() {
	case config.WireAnthropic:
		opt.Authorize = anthropic.Authorize
		p := anthropic.New(anthropic.Options{
			Model: m.Name, MaxTokens: o.MaxTokens, Temperature: o.Temperature, Effort: o.Effort, Extra: o.Extra,
			CacheHour: o.CacheTTL == config.CacheHour, Learned: last.Learned,
			Search: searches(cfg, m, "anthropic"),
		})
		return remote.New(opt, p), &memory{store: store, protocol: p, last: last}
	case config.WireResponses:
		p := responses.New(responses.Options{
			Model: m.Name, MaxTokens: o.MaxTokens, Temperature: o.Temperature, Effort: o.Effort, Extra: o.Extra,
			Learned: last.Learned, Search: searches(cfg, m, "openai"), Plan: plan,
		})
		return remote.New(opt, p), &memory{store: store, protocol: p, last: last}
	}
	p := openai.New(openai.Options{
		BaseURL: m.Endpoint.BaseURL, Model: m.Name, MaxTokens: o.MaxTokens, Temperature: o.Temperature, Effort: o.Effort, Extra: o.Extra,
		CacheMarkers: m.CacheMarkers(), CacheHour: o.CacheTTL == config.CacheHour, Learned: last.Learned,
	})
	return remote.New(opt, p), &memory{store: store, protocol: p, last: last}
}

// searches reports whether m's server may search the web by itself: it is the provider's own.
func searches(cfg config.Config, m config.Model, provider string) bool {
	return cfg.WebSearch == "auto" && m.HostedBy() == provider
}

// MissingKey returns an error if m needs a key that is missing. Another server at a
// known provider's name may need none.
func MissingKey(cfg config.Config, m config.Model) error {
	e := m.Endpoint
	if SignedIn(cfg, m) || e.APIKeyEnv == "" || os.Getenv(e.APIKeyEnv) != "" || len(e.APIKeyCommand) > 0 || len(e.Headers) > 0 {
		return nil
	}
	wanted := slices.ContainsFunc(config.Hosted, func(h config.HostedProvider) bool { return strings.HasPrefix(e.BaseURL+"/", h.BaseURL+"/") })
	if keystore.Open(cfg.Home).Has(e.BaseURL) {
		return nil
	}
	if !wanted && cfg.Providers[m.Provider].APIKeyEnv == "" {
		return nil
	}
	return fmt.Errorf("%s needs an API key, and %s is not set: export %s=…, or enter one with agent config model%s", m.Ref, e.APIKeyEnv, e.APIKeyEnv, orLogin(e))
}

// orLogin names the way without a key, if there is one.
func orLogin(e config.Provider) string {
	if e.Login == "" {
		return ""
	}
	return ", or use your ChatGPT plan: agent login"
}

// echoer is a protocol that may send plain reasoning back.
type echoer interface{ EchoesReasoning() bool }

// model is a model with its known abilities.
type model struct {
	llm.Model
	images  bool
	noTools bool
	effort  string  // the configured one
	memory  *memory // nil: it learns nothing
}

// Info describes the model.
func (m model) Info() llm.Info {
	info := m.Model.Info()
	info.Images, info.Effort = m.images, m.effort
	if m.memory != nil {
		info.NoEffort = m.memory.protocol.NoEffort()
		e, ok := m.memory.protocol.(echoer)
		info.EchoesReasoning = ok && e.EchoesReasoning()
	}
	return info
}

// Stream removes the parts that the model does not accept: servers reject them, and the
// conversation may have begun with another model.
func (m model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	if m.noTools {
		req.Tools = nil
	}
	image := func(p llm.Part) bool { return p.Kind == llm.ImagePart }
	if has := func(msg llm.Message) bool { return slices.ContainsFunc(msg.Parts, image) }; !m.images && slices.ContainsFunc(req.Messages, has) {
		req.Messages = slices.Clone(req.Messages)
		for i, msg := range req.Messages {
			req.Messages[i].Parts = slices.DeleteFunc(slices.Clone(msg.Parts), image)
		}
	}
	answer := m.Model.Stream(ctx, req)
	if m.memory == nil {
		return answer
	}
	return func(yield func(llm.Delta, error) bool) {
		for d, err := range answer {
			if d.End != nil {
				m.memory.update(ctx)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// free reports whether requests to m cost nothing: no key means no bill.
func free(m config.Model) bool {
	e := m.Endpoint
	return e.APIKeyEnv == "" && len(e.APIKeyCommand) == 0 && len(e.Headers) == 0 && m.Options.Input == 0 && m.Options.Output == 0
}

// key returns the API key of a provider, or "" without one. Local servers need none,
// and others will report it.
func key(ctx context.Context, p config.Provider, cfg config.Config) (string, error) {
	if len(p.APIKeyCommand) == 0 {
		if set := os.Getenv(p.APIKeyEnv); set != "" || p.APIKeyEnv == "" {
			return set, nil
		}
		return keystore.Open(cfg.Home).Get(ctx, p.BaseURL)
	}
	program, err := cfg.Programs().Find(p.APIKeyCommand[0])
	if err != nil {
		return "", fmt.Errorf("api_key_command: %w", err)
	}
	secrets := cfg.SecretEnv()
	ctx, cancel := timelimit.Context(ctx, keyTime)
	defer cancel()
	cmd := lookpath.CommandContext(ctx, program, p.APIKeyCommand[1:]...)
	cmd.Env = cfg.Programs().Environ(slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(secrets, name)
	}))
	out, says := child.Buffer{Limit: maxOutput}, child.Buffer{Limit: maxOutput}
	cmd.Stdout, cmd.Stderr = &out, &says
	cmd.WaitDelay = time.Second // do not wait for a child that keeps the pipe open
	if err := timelimit.Explain(ctx, child.Run(cmd, 0)); err != nil {
		if why := firstLine(string(says.Bytes())); why != "" {
			err = fmt.Errorf("%w: %s", err, why)
		}
		return "", fmt.Errorf("run %s: %w", p.APIKeyCommand[0], err)
	}
	line := firstLine(string(out.Bytes()))
	if line == "" {
		return "", fmt.Errorf("%s printed no key", p.APIKeyCommand[0])
	}
	return line, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}
