package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// permissions holds the command about the permission mode and grants.
type permissions struct{ *Set }

func (p permissions) list() []command.Command {
	return []command.Command{{
		Name: "permissions", Args: "[mode]", Help: "show and change what is done without asking",
		Group: command.Model, Run: p.run,
	}}
}

// run enters a mode or, without one, shows the rules and lets the person change them.
func (p permissions) run(_ context.Context, name string) (command.Reply, error) {
	if name != "" {
		return p.enter(name)
	}
	pick := command.Pick{Title: "Switch the mode, or remove a grant or a rule", Choose: p.choose}
	for _, m := range permission.Modes() {
		c := command.Choice{ID: m.String(), Title: m.String() + " mode", Detail: m.Help()}
		if m == p.App.Policy.Mode() {
			c.Detail += " · now"
		}
		pick.Items = append(pick.Items, c)
	}
	for i, g := range p.App.Grants() {
		pick.Items = append(pick.Items, command.Choice{ID: fmt.Sprintf("%s%d %s", grantID, i, g.What), Title: "ask again: " + g.What, Detail: g.Left})
	}
	for _, r := range p.own() {
		pick.Items = append(pick.Items, command.Choice{ID: ruleID + named(r), Title: "remove the rule: " + named(r), Detail: r.Source})
	}
	return command.Reply{Text: p.text(), Pick: &pick}, nil
}

// The beginnings of the IDs of choices that are not modes.
const (
	grantID = "grant "
	ruleID  = "rule "
)

// choose enters the chosen mode, or takes the chosen grant or rule back. Both are found by
// their words, because others may have come or gone.
func (p permissions) choose(ctx context.Context, id string) (command.Reply, error) {
	if rest, ok := strings.CutPrefix(id, grantID); ok {
		_, what, _ := strings.Cut(rest, " ")
		if !p.App.RevokeGrant(what) {
			return command.Reply{}, fmt.Errorf("%s already asks again", what)
		}
		return command.Reply{Text: "asks again: " + what}, nil
	}
	name, ok := strings.CutPrefix(id, ruleID)
	if !ok {
		return p.enter(id)
	}
	own := p.own()
	i := slices.IndexFunc(own, func(r permission.Rule) bool { return named(r) == name })
	if i < 0 {
		return command.Reply{}, fmt.Errorf("the rule %s no longer applies", name)
	}
	if err := p.App.RevokeRule(ctx, own[i]); err != nil {
		return command.Reply{}, err
	}
	return command.Reply{Text: "removed: " + name}, nil
}

// own returns the rules in the user's own file about this folder.
func (p permissions) own() []permission.Rule {
	return slices.DeleteFunc(slices.Clone(p.App.Policy.Rules()), func(r permission.Rule) bool { return r.Kept != permission.OwnFile })
}

func named(r permission.Rule) string { return r.Effect.String() + " " + r.String() }

func (p permissions) enter(name string) (command.Reply, error) {
	mode, err := permission.ParseMode(name)
	if err == nil {
		err = p.App.Policy.SetMode(mode)
	}
	if err != nil {
		return command.Reply{}, err
	}
	return command.Reply{Text: entered(mode)}, nil
}

// entered describes the mode that was entered: "Plan mode: …".
func entered(m permission.Mode) string {
	name := m.String()
	return strings.ToUpper(name[:1]) + name[1:] + " mode: " + m.Help() + "."
}

// mode describes the mode in force and its source.
func (p permissions) mode() string {
	now := p.App.Policy.Mode()
	if now.String() != p.App.Config.PermissionMode {
		return fmt.Sprintf("%s mode (in this session; it started in %s mode)", now, p.App.Config.PermissionMode)
	}
	for _, s := range p.App.Config.Settings() {
		if s.Key == "permission_mode" {
			return fmt.Sprintf("%s mode (permission_mode, from %s)", now, s.Source)
		}
	}
	return now.String() + " mode"
}

// text describes the rules in force and their sources.
func (p permissions) text() string {
	var b strings.Builder
	b.WriteString(p.mode() + "\n\n")
	var rows [][]string
	for _, m := range permission.Modes() {
		rows = append(rows, []string{m.String(), m.Help()})
	}
	b.WriteString(strings.Join(theme.Table(rows), "\n") + "\n\nAlways asked, in every mode but bypass: protected files (.git, hooks,\n" +
		"settings of shells and editors), removals, and edits that matched inexactly or\nhide characters.\n")
	rules := slices.DeleteFunc(slices.Clone(p.App.Policy.Rules()), func(r permission.Rule) bool { return r.Kept == permission.InSession })
	if len(rules) > 0 {
		b.WriteString("\nRules:\n")
		rows = nil
		for _, r := range rules {
			rows = append(rows, []string{"  " + r.Effect.String(), r.String(), "(" + r.Source + ")"})
		}
		b.WriteString(strings.Join(theme.Table(rows), "\n") + "\n")
	}
	grants := p.App.Grants()
	if len(grants) == 0 {
		b.WriteString("\nNo grants in this session.\n")
		return b.String()
	}
	b.WriteString("\nGranted by your answers:\n")
	for _, g := range grants {
		fmt.Fprintf(&b, "  %s  (%s)\n", g.What, g.Left)
	}
	return b.String()
}
