package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools/shell/safecmd"
)

// permissionRules returns the rules in force in dir: those of the configuration, those
// that the user keeps for this project, and those of the flags. With -p they include
// --allowedTools and --disallowedTools; without it those come from an editor's plugin,
// which is not the user's word.
func permissionRules(cfg config.Config, dir string, f *flags) (permission.Rules, error) {
	all, err := writtenRules(cfg, dir, f)
	if err != nil {
		return nil, err
	}
	return parseRules(all)
}

// written is a rule as it is written, and the only folder in which it allows commands, if
// there is a limit.
type written struct {
	config.Rule
	dir string
}

// writtenRules returns the rules in force in dir before they are parsed.
func writtenRules(cfg config.Config, dir string, f *flags) ([]written, error) {
	own, err := config.OwnProjectRules(cfg.Home, dir)
	if err != nil {
		return nil, usageError{err}
	}
	var all []written
	for _, r := range cfg.Rules {
		all = append(all, written{r, ""})
	}
	for _, r := range own {
		all = append(all, written{r, dir})
	}
	return append(all, f.rules()...), nil
}

// rules returns the rules of the flags.
func (f *flags) rules() (all []written) {
	add := func(effect permission.Effect, flag string, texts []string) {
		for _, text := range texts {
			all = append(all, written{config.Rule{Effect: effect.String(), Text: text, Source: flag}, ""})
		}
	}
	add(permission.Allow, "--allow", f.allow)
	add(permission.Deny, "--deny", f.deny)
	if f.prompted {
		add(permission.Allow, "--allowedTools", toolRules(f.plugin.allowed, func(string) bool { return false }))
		add(permission.Deny, "--disallowedTools", toolRules(f.plugin.denied, misspelt))
	}
	return all
}

func parseRules(all []written) (permission.Rules, error) {
	rules := make(permission.Rules, 0, len(all))
	for _, w := range all {
		r, err := parseRule(w.Rule)
		if err != nil {
			return nil, err
		}
		if r.Dir = w.dir; r.Dir != "" {
			r.Kept = permission.OwnFile
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// parseRule parses a rule and checks its examples.
func parseRule(w config.Rule) (permission.Rule, error) {
	effect, err := permission.ParseEffect(w.Effect)
	if err != nil {
		return permission.Rule{}, err
	}
	r, err := permission.ParseRule(effect, w.Text, w.Source)
	if err == nil {
		err = r.CheckExamples(w.Covers, w.Not, func(line string) []confirm.CommandPart { return safecmd.Classify(line).CommandParts(false) })
	}
	if err != nil {
		return r, usageError{err}
	}
	return r, nil
}

// toolRules splits the values of --allowedTools. It leaves out the tools of MCP servers
// and others that do not exist here, except those to keep: to allow or deny them has no
// effect.
func toolRules(values []string, keep func(text string) bool) []string {
	var all []string
	for _, v := range values {
		for _, text := range splitTools(v) {
			if _, err := permission.ParseRule(permission.Allow, text, ""); !errors.Is(err, permission.ErrUnknownTool) || keep(text) {
				all = append(all, text)
			}
		}
	}
	return all
}

// misspelt reports whether an unknown tool may be meant for a known one: it has not the
// form of a tool's name, or differs from a known one in case. To drop what is denied would
// allow it.
func misspelt(text string) bool {
	name, _, _ := strings.Cut(text, "(")
	known := []string{"run", "edit", "read", "Bash", "Edit", "Write", "MultiEdit", "Read"}
	return !toolName.MatchString(text) || slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) })
}

// splitTools splits a list of tools at commas and blanks outside parentheses.
func splitTools(list string) []string {
	var all []string
	from, depth := 0, 0
	for i, r := range list + "," {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case (r == ',' || r == ' ') && (depth <= 0 || i == len(list)):
			if i > from {
				all = append(all, list[from:i])
			}
			from = i + 1
		}
	}
	return all
}
