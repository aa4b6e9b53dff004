package firstrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/allowedservers"
	"github.com/bb2d0cf4/agent/internal/app/keystore"
	"github.com/bb2d0cf4/agent/internal/app/settings"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm/openai/local"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/repl/dialog"
	"github.com/bb2d0cf4/agent/internal/repl/picker"
)

// manifests are files of a folder that has a project to build and test.
var manifests = []string{"go.mod", "package.json", "Cargo.toml", "pyproject.toml", "setup.py", "pom.xml", "build.gradle*", "CMakeLists.txt", "Makefile", "*.csproj", "Gemfile", "mix.exs", "composer.json", ".git"}

// Suggestion returns a first prompt that suits the folder dir, which is "" for the present one.
func Suggestion(dir string) string {
	dir = cmp.Or(dir, ".")
	for _, m := range manifests {
		if found, err := filepath.Glob(filepath.Join(dir, m)); err == nil && len(found) > 0 {
			return "What does this project do, and how is it tested?"
		}
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) == 0 {
		return "Write a small command-line to-do list here, with a test."
	}
	return "What is in this folder?"
}

// Options hold the terminal to ask on and the settings known so far.
type Options struct {
	Terminal dialog.Terminal
	Config   config.Config
	Screens  int  // how many more screens may be shown before the offer of a copy is left out
	Second   bool // the person was asked about the project's files before
}

// chooser collects the answers that lead to a model. They are saved at the end, so
// leaving early changes nothing.
type chooser struct {
	Options
	keep  []settings.Pair // settings to save
	key   string          // typed in, to save
	at    string          // the address the key is for
	notes []string
	// allowed holds the servers and proxies that the person allowed on the way.
	allowed []allowedservers.Entry
	others  []string // addresses where another user's program listens
	of      string   // why the model was taken without a question; may be empty
	single  bool     // the page for a key is the only page
}

// way is one choice of the first page. Either server and model are set, or provider, or
// from is anotherServer.
type way struct {
	server   remote.Local // that runs on this machine, and
	model    string       // a model of it
	facts    local.Facts
	provider string // needs a key
	from     keySource
}

// keySource is the origin of a provider's key.
type keySource int

const (
	fromEnv keySource = iota
	fromStore
	pasted
	signedIn      // with an account, instead of a key
	anotherServer // typed in with the server's address
)

// Model lets a person choose a model and saves the choice. It returns notes about the
// result.
func Model(ctx context.Context, o Options) (notes []string, err error) {
	c := &chooser{Options: o}
	ways, items := c.ways(ctx)
	page := dialog.Page{Title: "Which model?", Choices: items}
	if o.Second {
		page.Title += " (2 of 2)"
	}
	if ways[0].model == "" {
		page.Text = []string{
			"No local model server found (Ollama, LM Studio, llama.cpp, vLLM). To get one: install Ollama from https://ollama.com, then run: ollama pull qwen3:8b",
			"Try it offline first: agent demo",
		}
	}
	for _, o := range c.others {
		page.Text = append(page.Text, o+" belongs to another user of this machine, so nothing was sent to it. To use it, enter its address.")
	}
	ref, err := c.follow(ctx, page, ways)
	if err != nil {
		return nil, err
	}
	if err := c.save(ctx, settings.Pair{Key: "model", Value: ref}); err != nil {
		return nil, err
	}
	return append(c.notes, "Using "+ref+c.of+". Switch with /model."), nil
}

// follow asks for a way and follows it. Going back from its first page asks again.
func (c *chooser) follow(ctx context.Context, page dialog.Page, ways []way) (ref string, err error) {
	for begin := *c; ; *c = begin {
		a, err := c.ask(ctx, page)
		if err != nil {
			return "", err
		}
		switch w := ways[a.Choice]; {
		case w.model != "":
			ref, err = c.onThisMachine(ctx, w)
		case w.from == anotherServer:
			ref, err = c.byAddress(ctx)
		case w.from == pasted:
			ref, err = c.byPaste(ctx)
		case w.from == signedIn:
			ref, err = c.bySignIn(ctx, w.provider)
		default:
			ref, err = c.byKey(ctx, w.provider, w.from)
		}
		if !errors.Is(err, dialog.ErrBack) {
			return ref, err
		}
	}
}

// Key asks for the missing key of a model that is already chosen.
func Key(ctx context.Context, o Options, m config.Model) (notes []string, err error) {
	c := &chooser{Options: o, single: true}
	if err := c.enterKey(ctx, m, func(context.Context, []remote.ModelInfo) error { return nil }, m.Ref); err != nil {
		return nil, err
	}
	return c.notes, c.save(ctx)
}

func (c *chooser) ask(ctx context.Context, p dialog.Page) (dialog.Answer, error) {
	c.Screens--
	a, err := dialog.Ask(ctx, c.Terminal, p)
	if errors.Is(err, ErrLeft) {
		err = fmt.Errorf("%w: nothing was saved. Run agent to be asked again, or name a model with --model", ErrLeft)
	}
	return a, err
}

// save writes the permissions and the key that were collected, then the settings.
func (c *chooser) save(ctx context.Context, more ...settings.Pair) error {
	for _, e := range c.allowed {
		if err := allowedservers.Open(c.Config.Home).Allow(ctx, e); err != nil {
			return err
		}
	}
	if c.key != "" {
		where, err := keystore.Open(c.Config.Home).Put(ctx, c.at, c.key)
		if err != nil {
			return fmt.Errorf("the key could not be saved: %w", err)
		}
		c.notes = append(c.notes, "the key is saved in "+where)
	}
	return settings.SetAll(ctx, append(c.keep, more...))
}

// ways lists the choices of the first page: what already works comes first.
func (c *chooser) ways(ctx context.Context) (ways []way, items []picker.Item) {
	add := func(w way, title, detail string) {
		ways, items = append(ways, w), append(items, picker.Item{Title: title, Detail: detail})
	}
	for i, w := range c.local(ctx) {
		title := "Local: " + w.server.Name + "/" + w.model
		if i == 0 && !w.facts.NoTools {
			title += " (recommended)"
		}
		add(w, title, described(w.facts))
	}
	kept := keystore.Open(c.Config.Home)
	for _, from := range []keySource{fromEnv, fromStore} {
		for _, h := range config.Hosted {
			m, err := c.Config.Lookup(h.Name + "/x")
			if err != nil || m.Endpoint.APIKeyEnv == "" {
				continue // the user's own address, without a key
			}
			has := pasted
			switch {
			case os.Getenv(m.Endpoint.APIKeyEnv) != "":
				has = fromEnv
			case kept.Has(m.Endpoint.BaseURL):
				has = fromStore
			}
			if detail := []string{"with the key in " + m.Endpoint.APIKeyEnv, "with the saved key"}[from]; has == from {
				add(way{provider: h.Name, from: from}, "Cloud: "+h.Title, detail)
			}
		}
	}
	add(way{from: pasted}, "Cloud: paste an API key", "OpenAI, Anthropic, Google Gemini, …")
	for _, h := range config.Hosted {
		if m, err := c.Config.Lookup(h.Name + "/x"); err == nil && m.Endpoint.Login != "" {
			add(way{provider: h.Name, from: signedIn}, "Cloud: continue with ChatGPT", "your ChatGPT plan pays, without a key")
		}
	}
	add(way{from: anotherServer}, "Another server", "by its address")
	return ways, items
}

// byPaste asks for the provider of a key, then for the key.
func (c *chooser) byPaste(ctx context.Context) (ref string, err error) {
	page := dialog.Page{Title: "Which provider is the key from?", Back: true}
	var names []string
	for _, h := range config.Hosted {
		if m, err := c.Config.Lookup(h.Name + "/x"); err == nil && m.Endpoint.APIKeyEnv != "" {
			names = append(names, h.Name)
			page.Choices = append(page.Choices, picker.Item{Title: h.Title, Detail: host(m.Endpoint.BaseURL)})
		}
	}
	for begin := *c; ; *c = begin {
		a, err := c.ask(ctx, page)
		if err != nil {
			return "", err
		}
		if ref, err = c.byKey(ctx, names[a.Choice], pasted); !errors.Is(err, dialog.ErrBack) {
			return ref, err
		}
	}
}

// host returns the host of an address, which names a server in a narrow list.
func host(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return remote.Shown(address)
}

// local returns the models on this machine, those without tools last.
func (c *chooser) local(ctx context.Context) (found []way) {
	for _, s := range remote.FindLocals(ctx, c.reachable()) {
		for _, m := range s.Models {
			found = append(found, way{server: s, model: m.ID})
		}
	}
	var asked []local.Model
	for _, w := range found {
		asked = append(asked, local.Model{Address: w.server.BaseURL, Name: w.model})
	}
	for i, facts := range local.ProbeAll(ctx, asked) {
		found[i].facts = facts
	}
	slices.SortStableFunc(found, func(a, b way) int { return rank(a.facts) - rank(b.facts) })
	return found
}

// reachable returns the local servers that may be queried without asking.
func (c *chooser) reachable() (list []remote.Local) {
	store := allowedservers.Open(c.Config.Home)
	for _, l := range config.Locals {
		m, err := c.Config.Lookup(l.Name + "/x")
		if err != nil {
			continue // not with an address of their own
		}
		may := store.Reachable(m)
		for _, address := range m.Usual() {
			switch {
			case slices.ContainsFunc(list, func(o remote.Local) bool { return o.BaseURL == address }):
			case slices.Contains(may, address):
				list = append(list, remote.Local{Name: l.Name, BaseURL: address})
			case allowedservers.Stranger(address) != "" && !slices.Contains(c.others, remote.Shown(address)):
				c.others = append(c.others, remote.Shown(address))
			}
		}
	}
	return list
}

func rank(f local.Facts) int {
	if f.NoTools {
		return 1
	}
	return 0
}

// described summarizes a local model, the worst first because room may be short.
func described(f local.Facts) string {
	var parts []string
	if f.NoTools {
		parts = append(parts, "no tools: cannot read or edit files")
	}
	if f.ContextWindow > 0 {
		parts = append(parts, plural.Grouped(f.ContextWindow)+" tokens of context")
	}
	return cmp.Or(strings.Join(parts, ", "), "on this machine")
}

// copyContext is the context of a copied Ollama model, in tokens.
const copyContext = 32 << 10

// onThisMachine uses a model on this machine. Ollama gives a model little context by
// default, and a request cannot ask for more: onThisMachine offers to make a copy that
// has more.
func (c *chooser) onThisMachine(ctx context.Context, w way) (ref string, err error) {
	ref = w.server.Name + "/" + w.model
	f := w.facts
	if f.Server != "ollama" || f.NoTools || c.Screens < 1 || f.ContextWindow >= copyContext/2 || f.MaxContext < copyContext {
		return ref, nil
	}
	copied := local.CopyName(w.model, copyContext)
	now := "Ollama may give this model only 4,096 tokens of context and silently drop the rest."
	if f.ContextWindow > 0 {
		now = "Ollama gives this model only " + plural.Grouped(f.ContextWindow) + " tokens of context and silently drops the rest."
	}
	a, err := c.ask(ctx, dialog.Page{
		Title: "More context for " + w.model + "?", Back: true,
		Text: []string{now, "A copy that asks for more shares the model's files, so nothing is downloaded. It takes more memory."},
		Choices: []picker.Item{
			{Title: "Make " + copied, Detail: "a copy with " + plural.Grouped(copyContext) + " tokens"},
			{Title: "Use it unchanged"},
		},
	})
	if err != nil || a.Choice == 1 {
		return ref, err
	}
	if err := local.Copy(ctx, w.server.BaseURL, w.model, copied, copyContext); err != nil {
		c.notes = append(c.notes, fmt.Sprintf("the copy was not made, so the model is used unchanged: %v", err))
		return ref, nil
	}
	c.notes = append(c.notes, "made "+copied+" in Ollama; ollama rm "+copied+" removes it")
	return w.server.Name + "/" + copied, nil
}
