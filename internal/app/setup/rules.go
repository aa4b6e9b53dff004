package setup

import (
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools/shell/safecmd"
)

// PermissionRules returns the rules in force in dir: those of the configuration, those that the user
// keeps for this project, and more.
func (s *Setup) PermissionRules(dir string, more []Written) (permission.Rules, error) {
	all, err := s.WrittenRules(dir)
	if err != nil {
		return nil, err
	}
	return ParseRules(append(all, more...))
}

// Written is a rule as it is written, and the only folder in which it allows commands, if
// there is a limit.
type Written struct {
	config.Rule
	Dir string
}

// WrittenRules returns the rules of the configuration, and those that the user keeps for this
// project, before they are parsed.
func (s *Setup) WrittenRules(dir string) ([]Written, error) {
	own, err := config.OwnProjectRules(s.Home, dir)
	if err != nil {
		return nil, UsageError{err}
	}
	var all []Written
	for _, r := range s.Rules {
		all = append(all, Written{r, ""})
	}
	for _, r := range own {
		all = append(all, Written{r, dir})
	}
	return all, nil
}

// ParseRules parses rules and checks their examples.
func ParseRules(all []Written) (permission.Rules, error) {
	rules := make(permission.Rules, 0, len(all))
	for _, w := range all {
		r, err := ParseRule(w.Rule)
		if err != nil {
			return nil, err
		}
		if r.Dir = w.Dir; r.Dir != "" {
			r.Kept = permission.OwnFile
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// ParseRule parses a rule and checks its examples.
func ParseRule(w config.Rule) (permission.Rule, error) {
	effect, err := permission.ParseEffect(w.Effect)
	if err != nil {
		return permission.Rule{}, err
	}
	r, err := permission.ParseRule(effect, w.Text, w.Source)
	if err == nil {
		err = r.CheckExamples(w.Covers, w.Not, func(line string) []confirm.CommandPart { return safecmd.Classify(line).CommandParts(false) })
	}
	if err != nil {
		return r, UsageError{err}
	}
	return r, nil
}
