package acp

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/provider"
	"github.com/bb2d0cf4/agent/internal/jsonrpc"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// The ids of the options of a session.
const (
	modeOption   = "mode"
	modelOption  = "model"
	effortOption = "effort"
)

// hostedModes lists the modes that a host may enter. The one that asks nothing is not
// among them.
func hostedModes() []permission.Mode {
	return slices.DeleteFunc(permission.Modes(), func(m permission.Mode) bool { return m == permission.Bypass })
}

// modes describes the permission modes.
func (s *hosted) modes() modes {
	out := modes{CurrentModeID: s.Policy.Mode().String()}
	for _, m := range hostedModes() {
		out.AvailableModes = append(out.AvailableModes, mode{m.String(), m.String(), m.Help()})
	}
	return out
}

// options describes the choices of the session.
func (s *hosted) options() []configOption {
	modes := configOption{ID: modeOption, Name: "Permissions", Category: "mode", Type: "select", CurrentValue: s.Policy.Mode().String()}
	for _, m := range hostedModes() {
		modes.Options = append(modes.Options, configValue{m.String(), m.String(), m.Help()})
	}
	now := s.Info().Name
	models := configOption{ID: modelOption, Name: "Model", Category: "model", Type: "select", CurrentValue: now}
	for _, m := range s.offers.Load().with(now) {
		models.Options = append(models.Options, configValue{m.Ref, sanitize.Line(m.Ref), sanitize.Line(m.Detail)})
	}
	all := []configOption{modes, models}
	if efforts := s.efforts(); len(efforts) > 0 {
		effort := configOption{ID: effortOption, Name: "Effort", Category: "thought_level", Type: "select", CurrentValue: cmp.Or(s.Effort(), app.DefaultEffort)}
		for _, e := range efforts {
			effort.Options = append(effort.Options, configValue{Value: e, Name: e})
		}
		all = append(all, effort)
	}
	return all
}

// offers is the list of the provider's models.
type offers []provider.Offer

// with returns o with the model in use, which the provider may not list.
func (o *offers) with(now string) []provider.Offer {
	var all []provider.Offer
	if o != nil {
		all = *o
	}
	if slices.ContainsFunc(all, func(m provider.Offer) bool { return m.Ref == now }) {
		return all
	}
	return append([]provider.Offer{{Ref: now}}, all...)
}

// learn asks the provider for its models. Without an answer only the model in use is
// offered.
func (s *served) learn(ctx context.Context) {
	all, err := s.Models(ctx)
	if err != nil || ctx.Err() != nil {
		return
	}
	list := offers(all)
	s.offers.Store(&list)
	s.view.update(configOptions{"config_option_update", s.options()})
}

// setOption changes the mode, the model or how much it thinks.
func (a *agent) setOption(ctx context.Context, p optionParams) (any, error) {
	s, err := a.find(p.SessionID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(s.options(), func(o configOption) bool { return o.ID == p.ConfigID })
	if i < 0 {
		return nil, jsonrpc.NewError(jsonrpc.InvalidParams, fmt.Sprintf("no option %q", p.ConfigID))
	}
	if !slices.ContainsFunc(s.options()[i].Options, func(v configValue) bool { return v.Value == p.Value }) {
		return nil, jsonrpc.NewError(jsonrpc.InvalidParams, fmt.Sprintf("%q is not among the values of %s", p.Value, p.ConfigID))
	}
	switch p.ConfigID {
	case modeOption:
		err = s.enter(p.Value)
	case effortOption:
		err = s.think(p.Value)
	default:
		err = s.use(ctx, p.Value)
	}
	if err != nil {
		return nil, jsonrpc.NewError(jsonrpc.InvalidRequest, err.Error())
	}
	return configOptions{ConfigOptions: s.options()}, nil
}

// use changes the model. Like a prompt, it takes the session.
func (s *served) use(ctx context.Context, name string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := s.begin(cancel); err != nil {
		return err
	}
	defer s.end()
	notes, err := s.SetModel(ctx, name)
	for _, note := range notes {
		s.note(note)
	}
	return err
}

// enter enters a permission mode.
func (s *served) enter(name string) error {
	m, err := permission.ParseMode(name)
	if err == nil {
		err = s.Policy.SetMode(m)
	}
	s.view.changed()
	return err
}

func (a *agent) setMode(p modeParams) (any, error) {
	s, err := a.find(p.SessionID)
	if err != nil {
		return nil, err
	}
	if err := s.enter(p.ModeID); err != nil {
		return nil, jsonrpc.NewError(jsonrpc.InvalidParams, err.Error())
	}
	return struct{}{}, nil
}
