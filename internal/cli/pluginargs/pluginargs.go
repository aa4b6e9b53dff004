// Package pluginargs understands the arguments that editors' plugins pass to the program for
// which they were written.
package pluginargs

import (
	"errors"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/permission"
)

// flags returns the flags that editors' plugins pass to the program that they were
// written for, with the number of their values: -1 for a list.
func flags() map[string]int {
	return map[string]int{
		"-d": 0, "--debug": 0, "--append-system-prompt": 1, "--mcp-config": 1, "--strict-mcp-config": 0,
		"--allowedTools": -1, "--allowed-tools": -1, "--disallowedTools": -1, "--disallowed-tools": -1,
	}
}

// toolName matches the name of a tool in a list.
var toolName = lazyregexp.New(`^(mcp__\S*|[A-Z][A-Za-z]+(\(.*\))?)(,.*)?$`)

// Args are the arguments of editors' plugins, apart from the program's own.
type Args struct {
	Rest    []string // the program's own arguments
	Ignored []string // the names of the others
	// allowed and denied are the values of --allowedTools and --disallowedTools.
	allowed, denied []string
}

// Split takes the flags of plugins out of args. To refuse them would close the terminal
// in which the plugin starts the program.
func Split(args []string) Args {
	known := flags()
	out := Args{Rest: []string{}} // not nil: cobra would take the arguments of the process
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		values, ok := known[name]
		if args[i] == "--" {
			out.Rest = append(out.Rest, args[i:]...)
			return out
		}
		if !ok {
			out.Rest = append(out.Rest, args[i])
			if takesPrompt(args[i]) && i+1 < len(args) { // the prompt, whatever it looks like
				i++
				out.Rest = append(out.Rest, args[i])
			}
			continue
		}
		if !slices.Contains(out.Ignored, name) {
			out.Ignored = append(out.Ignored, name)
		}
		of := []string{value}
		if !joined {
			n := valuesOf(values, args[i+1:])
			of = args[i+1 : i+1+n]
			i += n
		}
		switch name {
		case "--allowedTools", "--allowed-tools":
			out.allowed = append(out.allowed, of...)
		case "--disallowedTools", "--disallowed-tools":
			out.denied = append(out.denied, of...)
		}
	}
	return out
}

// takesPrompt reports whether the next argument is the prompt: arg is --prompt, or -p,
// alone or behind other letters.
func takesPrompt(arg string) bool {
	return arg == "--prompt" || strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "p") && !strings.Contains(arg, "=")
}

// valuesOf returns how many arguments in rest are values of the flag before it.
func valuesOf(values int, rest []string) int {
	if values >= 0 {
		return min(values, len(rest))
	}
	n := 0
	for n < len(rest) && !strings.HasPrefix(rest[n], "-") && (n == 0 || toolName.MatchString(rest[n])) {
		n++
	}
	return n
}

// Allowed returns the rules of --allowedTools.
func (a Args) Allowed() []string {
	return toolRules(a.allowed, func(string) bool { return false })
}

// Denied is Allowed for --disallowedTools.
func (a Args) Denied() []string { return toolRules(a.denied, misspelt) }

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
