package firstrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/app/keystore"
	"github.com/bb2d0cf4/agent/internal/app/settings"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/anthropic"
	"github.com/bb2d0cf4/agent/internal/llm/openai/local"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
	"github.com/bb2d0cf4/agent/internal/repl/dialog"
	"github.com/bb2d0cf4/agent/internal/repl/picker"
)

// askTime bounds how long a server may take to list its models.
const askTime = 15 * time.Second

// stored tells a person where a key will be kept.
const stored = "It is saved in the system's keyring, or without one in a file that only you can read."

// byKey chooses a model of a hosted provider, which needs a key.
func (c *chooser) byKey(ctx context.Context, provider string, from keySource) (ref string, err error) {
	m, err := c.Config.Lookup(provider + "/x")
	if err != nil {
		return "", err
	}
	address := m.Endpoint.BaseURL
	take := func(ctx context.Context, models []remote.ModelInfo) (err error) {
		ref, err = c.pick(ctx, provider, provider, models)
		return err
	}
	unchecked := ""
	if favourites := config.Favourites(provider); len(favourites) > 0 {
		unchecked = provider + "/" + favourites[0]
		ref = unchecked
	}
	if from == pasted {
		err = c.enterKey(ctx, m, take, unchecked)
		return ref, err
	}
	key, err := c.ownKey(ctx, m, from)
	if err != nil {
		return "", err
	}
	for {
		models, err := list(ctx, address, key)
		switch {
		case err == nil:
			err = take(ctx, models)
			return ref, err
		case ctx.Err() != nil:
			return "", ctx.Err()
		case refused(err) && from == fromStore:
			err = c.enterKey(ctx, m, take, unchecked)
			return ref, err
		case refused(err):
			return "", fmt.Errorf("%s The key comes from %s: correct it there, or unset it to paste one", message(err), m.Endpoint.APIKeyEnv)
		case unchecked == "":
			return "", err
		}
		if use, err := c.unchecked(ctx, err, unchecked); err != nil || use {
			return ref, err
		}
	}
}

// ownKey returns the key that m already has, after asking whether its server is
// allowed.
func (c *chooser) ownKey(ctx context.Context, m config.Model, from keySource) (string, error) {
	if err := c.allow(ctx, m); err != nil {
		return "", err
	}
	if from == fromStore {
		return keystore.Open(c.Config.Home).Get(ctx, m.Endpoint.BaseURL)
	}
	return os.Getenv(m.Endpoint.APIKeyEnv), nil
}

// enterKey asks for the key of m until the server accepts it, then calls take with the
// server's models. If the server cannot be reached and unchecked names a model, the
// person may keep the key without a check.
func (c *chooser) enterKey(ctx context.Context, m config.Model, take func(context.Context, []remote.ModelInfo) error, unchecked string) error {
	address := m.Endpoint.BaseURL
	m.From = "" // the page already shows the address
	if err := c.allow(ctx, m); err != nil {
		return err
	}
	page := dialog.Page{
		Title: "Paste the key for " + remote.Shown(address), Fields: []dialog.Field{{Label: "Key", Secret: true}},
		Text: []string{stored}, Back: !c.single,
	}
	if c.single {
		page.Text = []string{m.Ref + " needs it: no key is stored, and " + m.Endpoint.APIKeyEnv + " is not set.", stored}
	}
	for left := c.Screens; ; c.Screens = left { // correcting an answer does not count as another screen
		a, err := c.ask(ctx, page)
		if err != nil {
			return err
		}
		if why := noKey(a.Values[0]); why != "" {
			page.Text = []string{why}
			continue
		}
		c.key, c.at = a.Values[0], address
		models, err := list(ctx, address, c.key)
		switch {
		case err == nil:
			if err := take(ctx, models); !errors.Is(err, dialog.ErrBack) {
				return err
			}
			continue
		case ctx.Err() != nil:
			return ctx.Err()
		case refused(err) || unchecked == "":
			page.Text = []string{message(err)}
			continue
		}
		if kept, err := c.unchecked(ctx, err, unchecked); err != nil && !errors.Is(err, dialog.ErrBack) || kept {
			return err
		}
	}
}

// unchecked asks whether to keep a key that could not be checked, for use with ref.
func (c *chooser) unchecked(ctx context.Context, why error, ref string) (keep bool, err error) {
	a, err := c.ask(ctx, dialog.Page{
		Title: "The key could not be checked", Text: []string{message(why)}, Back: true,
		Choices: []picker.Item{{Title: "Try again"}, {Title: "Use it without a check", Detail: "and use " + ref}},
	})
	return a.Choice == 1, err
}

// byAddress asks for the address of any other server and gives the server a name.
func (c *chooser) byAddress(ctx context.Context) (ref string, err error) {
	page := dialog.Page{
		Title: "Which server?",
		Text:  []string{"It has to speak the OpenAI protocol (/chat/completions). /v1 is added if the server needs it.", "A key: " + stored},
		Fields: []dialog.Field{
			{Label: "Address", Value: "http://"},
			{Label: "Key", Secret: true, Optional: true},
		},
		Back: true,
	}
	for begin := *c; ; *c = begin {
		a, err := c.ask(ctx, page)
		if err != nil {
			return "", err
		}
		address, key := strings.TrimRight(a.Values[0], "/"), a.Values[1]
		page.Fields[0].Value = a.Values[0]
		if why := cmp.Or(unfit(address, key), noKey(key)); why != "" {
			page.Text = []string{why}
			continue
		}
		models, address, err := c.served(ctx, address, key)
		if errors.Is(err, dialog.ErrBack) {
			continue
		}
		if ctx.Err() != nil || errors.Is(err, ErrLeft) {
			return "", err
		}
		if err != nil {
			page.Text = []string{message(err)}
			continue
		}
		c.at, c.key = address, key
		name := c.name(address)
		prefix := "providers." + name + "."
		c.keep = append(c.keep, settings.Pair{Key: prefix + "base_url", Value: address})
		if key != "" {
			env := strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "_API_KEY"
			c.keep = append(c.keep, settings.Pair{Key: prefix + "api_key_env", Value: env})
		}
		if ref, err = c.pick(ctx, name, remote.Shown(address), models); !errors.Is(err, dialog.ErrBack) {
			return ref, err
		}
	}
}

// served asks whether the server is allowed and lists its models. If the address
// answers 404, served tries it with /v1 appended, as most servers need. It returns the
// address that worked.
func (c *chooser) served(ctx context.Context, address, key string) (models []remote.ModelInfo, at string, err error) {
	if err := c.allow(ctx, config.Model{Provider: c.name(address), Endpoint: config.Provider{BaseURL: address}}); err != nil {
		return nil, address, err
	}
	models, err = list(ctx, address, key)
	if e := new(llm.Error); errors.As(err, &e) && e.Kind == llm.NotFound && !strings.HasSuffix(address, "/v1") {
		if below, err := list(ctx, address+"/v1", key); err == nil && len(below) > 0 {
			for i := range c.allowed {
				if c.allowed[i].Address == address {
					c.allowed[i].Address += "/v1" // still the same server
				}
			}
			return below, address + "/v1", nil
		}
	}
	if err == nil && len(models) == 0 {
		err = fmt.Errorf("%s answers, but lists no model", remote.Shown(address))
	}
	return models, address, err
}

// unfit returns why an address cannot be used, or "".
func unfit(address, key string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "That is not an address. Addresses look like https://models.example.com/v1 or http://127.0.0.1:8000/v1."
	case u.User != nil:
		return "An address with a name or a password in it would be shown: paste the key below instead."
	case key != "" && u.Scheme == "http" && !local.On(address):
		return "Over http:// anyone on the way can read the key: use https://, or leave the key empty."
	}
	return ""
}

// commandLike matches a command of the prompt, such as /model x or exit.
var commandLike = lazyregexp.New(`^/[a-z-]+$|^(exit|quit|help)$`)

// noKey returns why a text cannot be a key, or "".
func noKey(text string) string {
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	if commandLike.MatchString(text) || strings.ContainsFunc(text, odd) {
		return "That does not look like a key: it is a command, or has a space or an unusual character. Nothing was saved. Paste only the key, or press Esc to exit."
	}
	return ""
}

var unnamed = lazyregexp.New(`[^a-z0-9]+`)

// name returns the provider name for an address: the one it already has, or one made
// from its host.
func (c *chooser) name(address string) string {
	for name, p := range c.Config.Providers {
		if p.BaseURL == address {
			return name
		}
	}
	u, err := url.Parse(address)
	host := "local"
	if err == nil && !local.On(address) {
		host = strings.Trim(unnamed.ReplaceAllString(strings.ToLower(u.Hostname()), "-"), "-")
	}
	name := host
	for n := 2; ; n++ {
		if _, taken := c.Config.Lookup(name + "/x"); taken != nil && name != config.ScriptProvider && name != "" {
			return name
		}
		name = fmt.Sprintf("%s-%d", host, n)
	}
}

// list returns the models that a server offers for a key.
func list(ctx context.Context, address, key string) ([]remote.ModelInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	opt := remote.Options{BaseURL: address, Key: func(context.Context) (string, error) { return key, nil }}
	if (config.Model{Endpoint: config.Provider{BaseURL: address}}).Wire() == config.WireAnthropic {
		opt.Authorize = anthropic.Authorize
	}
	models, err := remote.New(opt, nil).ListModels(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%s has not answered in %v", remote.Shown(address), askTime)
	}
	return models, err
}

// refused reports whether the server rejected the key.
func refused(err error) bool {
	e := new(llm.Error)
	return errors.As(err, &e) && e.Kind == llm.Unauthorized
}

// message returns the text of err for a person.
func message(err error) string {
	e := new(llm.Error)
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// notChat are parts of the names of models that hold no conversation.
var notChat = []string{
	"embed", "whisper", "tts", "dall-e", "moderation", "image", "audio", "realtime", "transcribe", "rerank", "guard", "sora", "imagen",
	"veo", "davinci", "babbage", "instruct-0914",
}

// pick chooses the first model: a favourite of the provider or the only one, which the person
// is told, else the person's choice. server is the name that the person knows.
func (c *chooser) pick(ctx context.Context, provider, server string, models []remote.ModelInfo) (ref string, err error) {
	var names []string
	for _, m := range models {
		if !slices.ContainsFunc(notChat, func(part string) bool { return strings.Contains(strings.ToLower(m.ID), part) }) {
			names = append(names, m.ID)
		}
	}
	for _, name := range config.Favourites(provider) {
		if slices.Contains(names, name) {
			c.of = fmt.Sprintf(" (recommended, of %d models)", len(names))
			return provider + "/" + name, nil
		}
	}
	switch {
	case len(names) == 0:
		return "", fmt.Errorf("%s lists no chat models; name one with --model %s/NAME", server, provider)
	case len(names) == 1:
		c.of = " (its only model)"
		return provider + "/" + names[0], nil
	}
	page := dialog.Page{Title: "Which model of " + server + "?", Back: true}
	for _, n := range names {
		page.Choices = append(page.Choices, picker.Item{Title: n})
	}
	a, err := c.ask(ctx, page)
	return provider + "/" + names[a.Choice], err
}
