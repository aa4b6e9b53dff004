package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/permission"
)

// rules returns the rules of the flags. With -p they include --allowedTools and
// --disallowedTools; without it those come from an editor's plugin, which is not the user's
// word.
func (f *flags) rules() (all []setup.Written) {
	add := func(effect permission.Effect, flag string, texts []string) {
		for _, text := range texts {
			all = append(all, setup.Written{Rule: config.Rule{Effect: effect.String(), Text: text, Source: flag}})
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
