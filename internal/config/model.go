package config

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/config/catalog"
	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/lookpath"
)

// Provider is a model server.
type Provider struct {
	BaseURL string `yaml:"base_url"`
	// APIKeyEnv names the environment variable with the key; APIKeyCommand prints it
	// (program and arguments, no shell). With neither, requests carry no key.
	APIKeyEnv string `yaml:"api_key_env"`
	// Login is the issuer at which a person can sign in instead of having a key.
	Login         string                  `yaml:"login"`
	APIKeyCommand []string                `yaml:"api_key_command"`
	Headers       map[string]string       `yaml:"headers"`
	ContextWindow int64                   `yaml:"context_window"` // tokens
	Wire          string                  `yaml:"wire"`           // of its models, see ModelOptions
	Models        map[string]ModelOptions `yaml:"models"`
}

// ModelOptions describes one model and its requests. Prices are in USD per million
// tokens; zero means unknown.
type ModelOptions struct {
	ContextWindow int64   `yaml:"context_window"` // tokens
	Images        *bool   `yaml:"images"`         // whether it accepts images; nil: until it refuses one
	CacheMarkers  *bool   `yaml:"cache_markers"`  // see Model.CacheMarkers
	CacheTTL      string  `yaml:"cache_ttl"`      // the time for which marked input is cached: CacheHour, or five minutes
	Input         float64 `yaml:"price_input"`
	Output        float64 `yaml:"price_output"`
	Cached        float64 `yaml:"price_cached"`
	Written       float64 `yaml:"price_cache_write"`

	Wire        string         `yaml:"wire"`       // WireChat, WireResponses or WireAnthropic; empty: by address
	Effort      string         `yaml:"effort"`     // how much it thinks; empty: its own default
	MaxTokens   int            `yaml:"max_tokens"` // of an answer; zero: its own limit
	Temperature *float64       `yaml:"temperature"`
	Extra       map[string]any `yaml:"extra"` // merged into the request
	// WrittenCalls reports whether calls are read that the model writes into its text;
	// nil: if its server is on this machine.
	WrittenCalls *bool `yaml:"written_calls"`
	// Edits chooses the tools that it is offered for changing files; empty: by its name.
	Edits string `yaml:"edits"`
}

// The protocols that a server may speak.
const (
	WireChat      = "chat"      // chat completions
	WireResponses = "responses" // OpenAI's Responses API
	WireAnthropic = "anthropic" // Anthropic's Messages API
)

// Wire returns the protocol that the server of m speaks. A server that is not known
// speaks chat completions.
func (m Model) Wire() string {
	host := ""
	if u, err := url.Parse(m.Endpoint.BaseURL); err == nil {
		host = u.Hostname()
	}
	switch {
	case m.Options.Wire != "":
		return m.Options.Wire
	case m.Endpoint.Wire != "":
		return m.Endpoint.Wire
	case host == "api.anthropic.com":
		return WireAnthropic
	case host == "api.openai.com":
		return WireResponses
	}
	return WireChat
}

// The choices of tools that a model is offered for changing files.
const (
	EditsReplace = "replace" // replacements of text
	EditsPatch   = "patch"   // patches of several files
	EditsAll     = "all"
)

// Edits returns the choice of tools for m. Only OpenAI's newer models write patches as
// well as replacements; public measurements show every other family failing with them.
func (m Model) Edits() string {
	switch {
	case m.Options.Edits != "":
		return m.Options.Edits
	case patching.MatchString(strings.ToLower(m.Name)):
		return EditsPatch
	}
	return EditsReplace
}

// patching matches the names of models that were trained to write patches: from gpt-4.1
// on, and codex, perhaps after a provider's name.
var patching = lazyregexp.New(`(?:^|[^a-z0-9])(?:gpt-(?:4\.1|[5-9]|[1-9][0-9])|codex)(?:$|[^0-9])`)

// CacheHour is the value of cache_ttl for an hour.
const CacheHour = "1h"

// CacheMarkers reports whether chat completions mark what the server should cache. Those
// of OpenRouter demand it for Claude; most servers cache by themselves, and some refuse
// the markers.
func (m Model) CacheMarkers() bool {
	if set := m.Options.CacheMarkers; set != nil {
		return *set
	}
	u, err := url.Parse(m.Endpoint.BaseURL)
	return err == nil && u.Hostname() == "openrouter.ai" && strings.Contains(strings.ToLower(m.Name), "claude")
}

// Model is everything needed to talk to a model.
type Model struct {
	Ref      string // as the user writes it: provider/name
	Provider string
	Name     string // as the server knows it
	Endpoint Provider
	Options  ModelOptions
	NoTools  bool // its server reports that it cannot call tools
	// From is the source of the address if the user has not set it for this provider:
	// an environment variable, or a base_url without a model. Else it is empty.
	From string
	// FromPair reports that From is OPENAI_BASE_URL, which names the server of
	// OPENAI_API_KEY, and that the user's file sets no key and no headers to send there.
	FromPair bool
	// Elsewhere reports that the user's file and environment choose another model, or none:
	// a further command needs --model to find this one.
	Elsewhere bool
}

// ScriptProvider is the provider of models that replay a file: script:FILE.
const ScriptProvider = "script"

// HostedProvider is a known provider that requires a key.
type HostedProvider struct {
	Name, Title, BaseURL, KeyEnv string
	favourites                   []string // before those that package catalog recommends
}

// Hosted lists the known providers that require a key, best known first.
var Hosted = []HostedProvider{
	{"openai", "OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY", nil},
	{"anthropic", "Anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", nil},
	{"openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", nil},
	{"gemini", "Google Gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY", nil},
	{"mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", []string{"mistral-medium-latest", "mistral-large-latest"}},
	{"deepseek", "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", nil},
	{"xai", "xAI", "https://api.x.ai/v1", "XAI_API_KEY", nil},
	{"groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", nil},
	{"together", "Together", "https://api.together.xyz/v1", "TOGETHER_API_KEY", nil},
}

// Favourites returns the known models of a provider, by the names that it lists: those to suggest first.
func Favourites(provider string) []string {
	i := slices.IndexFunc(Hosted, func(h HostedProvider) bool { return h.Name == provider })
	if i < 0 {
		return nil
	}
	all := slices.Clone(Hosted[i].favourites)
	for _, m := range catalog.Models(provider) {
		if provider == "gemini" {
			m.Name = "models/" + m.Name
		}
		all = append(all, m.Name)
	}
	return all
}

// LocalProvider is a server that people run on their own machine, at one of its usual addresses.
type LocalProvider struct {
	Name      string
	Addresses []string
}

// Locals lists the known local providers, best known first.
var Locals = []LocalProvider{
	{"ollama", []string{"http://127.0.0.1:11434/v1"}},
	{"lmstudio", []string{"http://127.0.0.1:1234/v1"}},
	{"llamacpp", []string{"http://127.0.0.1:8080/v1", "http://127.0.0.1:9931/v1"}}, // the second since 2026
	{"vllm", []string{"http://127.0.0.1:8000/v1"}},
}

// Local reports whether a provider is one of Locals, whatever its address.
func Local(provider string) bool {
	return slices.ContainsFunc(Locals, func(l LocalProvider) bool { return l.Name == provider })
}

// Usual returns the addresses at which the server of m may be: its own, and the other usual ones
// if it has the first of them.
func (m Model) Usual() []string {
	at := m.Endpoint.BaseURL
	i := slices.IndexFunc(Locals, func(l LocalProvider) bool { return l.Name == m.Provider && l.Addresses[0] == at })
	if i < 0 {
		return []string{at}
	}
	return Locals[i].Addresses
}

// builtin returns the providers that need no configuration.
func builtin() map[string]Provider {
	all := map[string]Provider{}
	for _, l := range Locals {
		all[l.Name] = Provider{BaseURL: l.Addresses[0]}
	}
	for _, h := range Hosted {
		all[h.Name] = Provider{BaseURL: h.BaseURL, APIKeyEnv: h.KeyEnv}
	}
	openai := all["openai"]
	openai.Login = "https://auth.openai.com"
	all["openai"] = openai
	return all
}

// openAIBaseURL is the environment variable that replaces the address of the provider
// openai.
const openAIBaseURL = "OPENAI_BASE_URL"

// Split splits a model's name at the first slash, so that openrouter/openai/x is the
// model openai/x of openrouter; script:FILE is the model FILE of ScriptProvider.
func Split(ref string) (provider, name string, err error) {
	if file, ok := strings.CutPrefix(ref, ScriptProvider+":"); ok && file != "" {
		return ScriptProvider, file, nil
	}
	provider, name, ok := strings.Cut(ref, "/")
	if !ok || provider == "" || name == "" {
		return "", "", fmt.Errorf("the model %q has no provider: write provider/name, for example openai/%s", ref, ref)
	}
	return provider, name, nil
}

// Lookup finds the model that ref names. The user's configuration of a provider
// replaces the built-in one of the same name key by key.
func (c Config) Lookup(ref string) (Model, error) {
	name, model, err := Split(ref)
	if err != nil {
		return Model{}, err
	}
	m := Model{Ref: ref, Provider: name, Name: model, Elsewhere: c.elsewhere(ref)}
	if name == ScriptProvider {
		return m, nil
	}
	user, known := c.Providers[name]
	preset, preknown := builtin()[name]
	m.Endpoint = overlay(preset, user)
	own := m.Endpoint.BaseURL
	if u := os.Getenv(openAIBaseURL); name == "openai" && u != "" && user.BaseURL == "" {
		m.Endpoint.BaseURL, m.From = u, openAIBaseURL+" in the environment"
		m.FromPair = user.APIKeyEnv == "" && len(user.APIKeyCommand) == 0 && len(user.Headers) == 0
	}
	if c.BaseURL != "" && c.ownsBaseURL(name, m.Endpoint) {
		m.Endpoint.BaseURL, m.From, m.FromPair = c.BaseURL, c.baseURLFrom(), false
	}
	if m.Endpoint.BaseURL == "" {
		return Model{}, c.noProvider(name, known || preknown)
	}
	if strings.TrimRight(m.Endpoint.BaseURL, "/") == strings.TrimRight(own, "/") {
		m.From = ""
	} else if user.Login == "" {
		m.Endpoint.Login = "" // it is for the known address
	}
	return m.Told(ModelOptions{}), nil
}

// Told returns m with the facts that its server tells, which complete the user's settings; the
// public facts about the models of hosted providers complete both.
func (m Model) Told(served ModelOptions) Model {
	m.Options = m.Endpoint.Models[m.Name]
	if m.Options.ContextWindow == 0 {
		m.Options.ContextWindow = m.Endpoint.ContextWindow
	}
	m.Options.complete(served)
	if known, ok := catalog.Find(m.HostedBy(), m.Name); ok {
		m.Options.complete(ModelOptions{
			ContextWindow: known.Window, Images: &known.Pictures,
			Input: known.Input, Output: known.Output, Cached: known.Cached, Written: known.Written,
		})
	}
	return m
}

// HostedBy returns the known provider at whose own address m is, under whatever name; "" for
// another address.
func (m Model) HostedBy() string {
	at := strings.TrimRight(m.Endpoint.BaseURL, "/")
	i := slices.IndexFunc(Hosted, func(h HostedProvider) bool { return h.BaseURL == at })
	if i < 0 {
		return ""
	}
	return Hosted[i].Name
}

// complete adds facts that o lacks. Prices belong together.
func (o *ModelOptions) complete(facts ModelOptions) {
	if o.ContextWindow == 0 {
		o.ContextWindow = facts.ContextWindow
	}
	if o.Images == nil {
		o.Images = facts.Images
	}
	if o.Input == 0 && o.Output == 0 && o.Cached == 0 && o.Written == 0 {
		o.Input, o.Output, o.Cached, o.Written = facts.Input, facts.Output, facts.Cached, facts.Written
	}
}

// With returns c with another model. A base URL that was set without a provider stays
// with the provider that it was set for.
func (c Config) With(model string) Config {
	was, _, _ := Split(c.Model)
	if now, _, err := Split(model); err == nil && now != was && c.Model != "" {
		c.BaseURL = ""
	}
	c.Model = model
	return c
}

// ownsBaseURL reports whether the base URL that was set without a provider is for this
// one: it belongs to the chosen model. A provider that the user switches to later keeps
// its own address, as its key would be sent along.
func (c Config) ownsBaseURL(name string, p Provider) bool {
	chosen, _, err := Split(c.Model)
	if err != nil {
		return p.APIKeyEnv == "" && len(p.APIKeyCommand) == 0
	}
	return name == chosen
}

// baseURLFrom returns the source of the base URL that was set without a provider; empty
// if the user set it together with the model.
func (c Config) baseURLFrom() string {
	own := func(source string) bool { return strings.HasPrefix(source, c.File+":") }
	switch source := c.source("base_url"); {
	case source == "flag":
		return ""
	case own(source) && own(c.source("model")):
		return ""
	case own(source):
		return "base_url in " + source + ", which was not set for the provider of this model"
	default:
		return source + " in the environment"
	}
}

// elsewhere reports whether a loaded configuration has ref from a flag, or has another model.
func (c Config) elsewhere(ref string) bool {
	for _, s := range c.settings {
		if s.Key == "model" {
			return s.Source == "flag" || s.Value != ref
		}
	}
	return false
}

// source returns the source of a key's value.
func (c Config) source(key string) string {
	for _, s := range c.settings {
		if s.Key == key {
			return s.Source
		}
	}
	return key
}

func (c Config) noProvider(name string, known bool) error {
	if known {
		return fmt.Errorf("the provider %q has no base_url: add providers.%s.base_url to %s", name, name, c.File)
	}
	names := slices.Sorted(maps.Keys(builtin()))
	for n := range c.Providers {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return fmt.Errorf("unknown provider %q; known are %s; add providers.%s.base_url to %s, or give --base-url",
		name, strings.Join(names, ", "), name, c.File)
}

// overlay returns base with the settings of top. A base URL in top drops the key of
// base: a key is only sent to the address that its owner configured.
func overlay(base, top Provider) Provider {
	if top.BaseURL != "" {
		base = Provider{BaseURL: top.BaseURL}
	}
	if top.APIKeyEnv != "" || len(top.APIKeyCommand) > 0 {
		base.APIKeyEnv, base.APIKeyCommand = top.APIKeyEnv, top.APIKeyCommand
	}
	if top.Login != "" {
		base.Login = top.Login
	}
	base.Headers, base.ContextWindow, base.Wire, base.Models = top.Headers, top.ContextWindow, top.Wire, top.Models
	return base
}

// Programs returns the search for the programs that the session starts by name.
func (c Config) Programs() lookpath.Search { return lookpath.Search{Dirs: c.Dirs} }

// SecretEnv returns the environment variables with keys, which no child process may
// get.
func (c Config) SecretEnv() []string {
	set := map[string]bool{}
	for _, providers := range []map[string]Provider{builtin(), c.Providers} {
		for _, p := range providers {
			if p.APIKeyEnv != "" {
				set[p.APIKeyEnv] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}
