package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Bounds of the resources and prompts of a server.
const (
	maxOffers    = 500     // resources, templates and prompts, of each kind
	maxURI       = 2 << 10 // bytes
	maxHelp      = 120
	maxArguments = 20
	relistEvery  = time.Second // at the most
)

// Resource is a resource that a server lists, or a template for the addresses of some.
type Resource struct {
	Server   string
	URI      string // of a template, with {names}
	Template bool
}

// Prompt is a prompt that a server lists.
type Prompt struct {
	Server string
	Name   string // as the server calls it
	Typed  string // as people type it: letters, digits, - and _
	Help   string // one line, sanitized
	Args   []Argument
}

// Argument is an argument of a prompt.
type Argument struct {
	Name     string // without control and hidden characters
	Help     string // one line, sanitized
	Required bool
}

// Has reports whether the prompt has an argument of that name.
func (p Prompt) Has(name string) bool {
	return slices.ContainsFunc(p.Args, func(a Argument) bool { return a.Name == name })
}

// offers are the resources and prompts of a server.
type offers struct {
	resources []Resource
	prompts   []Prompt
}

// watch lists the resources and prompts of the server until l ends: at once, and again after
// the server has reported a change.
func (s *server) watch(ctx context.Context, l *link) {
	s.relist(ctx, l)
	pause := time.NewTimer(relistEvery)
	defer pause.Stop()
	var changed <-chan struct{} // nil during a pause
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.ended:
			return
		case <-pause.C:
			changed = s.stale
		case <-changed:
			s.relist(ctx, l)
			changed = nil
			pause.Reset(relistEvery)
		}
	}
}

// relist lists the resources and prompts. If that fails, those that were known stay.
func (s *server) relist(ctx context.Context, l *link) {
	defer s.listedOnce.Do(func() { close(s.listed) })
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	resources, err := s.listResources(ctx, l.session)
	prompts, err2 := s.listPrompts(ctx, l.session)
	s.mu.Lock()
	if err == nil {
		s.now.offers.resources = resources
	}
	if err2 == nil {
		s.now.offers.prompts = prompts
	}
	s.mu.Unlock()
	s.opt.Offered()
	if err := errors.Join(err, err2); err != nil && !errors.Is(err, sdk.ErrConnectionClosed) && !errors.Is(ctx.Err(), context.Canceled) {
		s.opt.Tell(fmt.Sprintf("The MCP server %s does not list all it offers: %s.", s.Name, bounded(err, maxWhy)))
	}
}

// listResources returns the resources that a mention can name, then the templates.
func (s *server) listResources(ctx context.Context, cs *sdk.ClientSession) (all []Resource, err error) {
	if caps := cs.InitializeResult().Capabilities; caps == nil || caps.Resources == nil {
		return nil, nil
	}
	add := func(uri string, template bool) {
		if uri != "" && len(uri) <= maxURI && sanitize.Line(uri) == uri && !strings.Contains(uri, `"`) {
			all = append(all, Resource{s.Name, uri, template})
		}
	}
	list, err := pages(func(cursor string) ([]*sdk.Resource, string, error) {
		page, err := cs.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return page.Resources, page.NextCursor, nil
	})
	if err != nil {
		return nil, fmt.Errorf("its resources: %w", err)
	}
	for _, r := range list {
		add(r.URI, false)
	}
	templates, err := pages(func(cursor string) ([]*sdk.ResourceTemplate, string, error) {
		page, err := cs.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return page.ResourceTemplates, page.NextCursor, nil
	})
	if unknown := new(jsonrpc.Error); errors.As(err, &unknown) && unknown.Code == jsonrpc.CodeMethodNotFound {
		return all, nil // a server may have resources only
	}
	if err != nil {
		return nil, fmt.Errorf("its templates: %w", err)
	}
	for _, t := range templates {
		add(t.URITemplate, true)
	}
	return all, nil
}

// listPrompts returns the prompts, the first of those that would be typed alike.
func (s *server) listPrompts(ctx context.Context, cs *sdk.ClientSession) (all []Prompt, err error) {
	if caps := cs.InitializeResult().Capabilities; caps == nil || caps.Prompts == nil {
		return nil, nil
	}
	list, err := pages(func(cursor string) ([]*sdk.Prompt, string, error) {
		page, err := cs.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return page.Prompts, page.NextCursor, nil
	})
	if err != nil {
		return nil, fmt.Errorf("its prompts: %w", err)
	}
	for _, p := range list {
		one := Prompt{Server: s.Name, Name: p.Name, Typed: typedName(p.Name), Help: helpLine(p.Description, p.Title)}
		if one.Typed == "" || len(p.Name) > maxToolName || len(p.Arguments) > maxArguments ||
			slices.ContainsFunc(all, func(other Prompt) bool { return other.Typed == one.Typed }) {
			continue
		}
		for _, a := range p.Arguments {
			if a != nil && a.Name != "" && len(a.Name) <= maxToolName && sanitize.Line(a.Name) == a.Name {
				one.Args = append(one.Args, Argument{a.Name, helpLine(a.Description, a.Title), a.Required})
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// typedName returns the name of a prompt as a part of a slash command.
func typedName(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, name), "-")
}

// helpLine returns the first of texts that is not empty, cleaned and cut.
func helpLine(texts ...string) string {
	for _, text := range texts {
		if text = clip.Line(sanitize.ForModel(clip.Bytes(text, 4*maxHelp, "…"))); text != "" {
			return clip.Bytes(text, maxHelp, "…")
		}
	}
	return ""
}

// pages collects the pages of a list, up to maxOffers entries.
func pages[T any](ask func(cursor string) (list []*T, next string, err error)) ([]*T, error) {
	var all []*T
	cursor := ""
	for range maxPages {
		list, next, err := ask(cursor)
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			if one != nil && len(all) < maxOffers {
				all = append(all, one)
			}
		}
		if cursor = next; cursor == "" || len(all) == maxOffers {
			break
		}
	}
	return all, nil
}

// signal notes a change in c, which holds one at the most.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Resources returns the resources and templates that the servers have listed so far.
func (s *Servers) Resources() (all []Resource) {
	for _, one := range s.all {
		all = append(all, one.offered().resources...)
	}
	return all
}

// Prompts returns the prompts that the servers have listed so far.
func (s *Servers) Prompts() (all []Prompt) {
	for _, one := range s.all {
		all = append(all, one.offered().prompts...)
	}
	return all
}

// Has reports whether a server has that name.
func (s *Servers) Has(name string) bool {
	_, err := s.find(name)
	return err == nil
}

// Prompt returns the prompt of a server that is typed so. It waits until the server has
// listed its prompts or failed.
func (s *Servers) Prompt(ctx context.Context, name, typed string) (Prompt, error) {
	one, err := s.find(name)
	if err != nil {
		return Prompt{}, err
	}
	select {
	case <-one.listed:
	case <-ctx.Done():
		return Prompt{}, ctx.Err()
	}
	for _, p := range one.offered().prompts {
		if p.Typed == typed {
			return p, nil
		}
	}
	if st := one.status(); st.State == Failed {
		return Prompt{}, fmt.Errorf("the MCP server %s has failed: %s", name, st.Why)
	}
	return Prompt{}, fmt.Errorf("the MCP server %s has no prompt %q; /help lists those it has", name, typed)
}

func (s *server) offered() offers {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.offers
}
