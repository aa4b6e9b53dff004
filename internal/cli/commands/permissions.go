package commands

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/repl/command"
)

// permissions holds the command about the permission mode and grants.
type permissions struct{ *Set }

func (p permissions) list() []command.Command {
	return []command.Command{{
		Name: "permissions", Args: "[mode]", Help: "show and change what is done without asking",
		Group: command.Model, Run: p.run,
	}}
}

type modeHelp struct {
	mode permission.Mode
	help string
}

// modes describes the modes.
var modes = []modeHelp{
	{permission.Default, "edits and commands ask, except commands that only read"},
	{permission.AcceptEdits, "edits are written without asking; commands ask as in default mode"},
	{permission.Plan, "nothing is written, and only commands that only read are run"},
	{permission.Bypass, "nothing asks (only with --permission-mode bypass)"},
}

// run enters a mode or, without one, shows the rules and lets the person change them.
func (p permissions) run(_ context.Context, name string) (command.Reply, error) {
	if name != "" {
		return p.enter(name)
	}
	pick := command.Pick{Title: "Enter a mode, or take a grant back", Choose: p.choose}
	for _, m := range modes {
		c := command.Choice{ID: m.mode.String(), Title: m.mode.String() + " mode", Detail: m.help}
		if m.mode == p.App.Policy.Mode() {
			c.Detail += " · now"
		}
		pick.Items = append(pick.Items, c)
	}
	for i, words := range p.granted() {
		pick.Items = append(pick.Items, command.Choice{ID: "grant " + strconv.Itoa(i) + " " + words, Title: "ask again: " + words})
	}
	return command.Reply{Text: p.text(), Pick: &pick}, nil
}

// choose enters the chosen mode or takes the chosen grant back. A grant is found by its
// words, because others may have come or gone.
func (p permissions) choose(_ context.Context, id string) (command.Reply, error) {
	rest, ok := strings.CutPrefix(id, "grant ")
	if !ok {
		return p.enter(id)
	}
	_, words, _ := strings.Cut(rest, " ")
	if !p.revoke(words) {
		return command.Reply{}, fmt.Errorf("%s is no longer granted", words)
	}
	return command.Reply{Text: "asked about again: " + words}, nil
}

// granted describes the grants of the session: those by "always", and reads outside the
// workspace.
func (p permissions) granted() []string {
	var all []string
	for _, g := range p.App.Policy.Grants() {
		all = append(all, g.String())
	}
	for _, path := range p.App.Root.Outside().Allowed() {
		if words := reading(path); !slices.Contains(all, words) {
			all = append(all, words)
		}
	}
	return all
}

// revoke takes back the grant with the words that granted returned.
func (p permissions) revoke(words string) bool {
	done := false
	for _, g := range p.App.Policy.Grants() {
		if g.String() == words {
			done = p.App.Policy.Revoke(g) || done
		}
	}
	for _, path := range p.App.Root.Outside().Allowed() {
		if reading(path) == words {
			done = p.App.Root.Outside().Revoke(path) || done
		}
	}
	return done
}

func reading(path string) string { return permission.Grant{Path: path}.String() }

func (p permissions) enter(name string) (command.Reply, error) {
	mode, err := permission.ParseMode(name)
	if err == nil {
		err = p.App.Policy.SetMode(mode)
	}
	if err != nil {
		return command.Reply{}, err
	}
	i := slices.IndexFunc(modes, func(m modeHelp) bool { return m.mode == mode })
	return command.Reply{Text: p.mode() + ": " + modes[i].help}, nil
}

// mode describes the mode in force and its source.
func (p permissions) mode() string {
	now := p.App.Policy.Mode()
	if now.String() != p.App.Config.PermissionMode {
		return fmt.Sprintf("%s mode (of this session; it began in %s mode)", now, p.App.Config.PermissionMode)
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
	for _, m := range modes {
		fmt.Fprintf(&b, "%-13s %s\n", m.mode, m.help)
	}
	b.WriteString("\nAlways asked, in every mode but bypass: protected files (.git, hooks,\n" +
		"settings of shells and editors), removals, and edits that matched inexactly or\nhide characters.\n")
	if rules := p.App.Policy.Rules(); len(rules) > 0 {
		b.WriteString("\nRules:\n")
		for _, r := range rules {
			fmt.Fprintf(&b, "  %-5s %s  (%s)\n", r.Effect, r, r.Source)
		}
	}
	grants := p.granted()
	if len(grants) == 0 {
		b.WriteString("\nNothing is granted for this session.\n")
		return b.String()
	}
	b.WriteString("\nGranted for this session, by your answers:\n")
	for _, g := range grants {
		fmt.Fprintf(&b, "  %s\n", g)
	}
	return b.String()
}
