package cli

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// pluginFlags returns the flags that editors' plugins pass to the program that they were
// written for, with the number of their values: -1 for a list.
func pluginFlags() map[string]int {
	return map[string]int{
		"-d": 0, "--debug": 0, "--append-system-prompt": 1, "--mcp-config": 1, "--strict-mcp-config": 0,
		"--allowedTools": -1, "--allowed-tools": -1, "--disallowedTools": -1, "--disallowed-tools": -1,
	}
}

// toolName matches the name of a tool in a list.
var toolName = lazyregexp.New(`^(mcp__\S*|[A-Z][A-Za-z]+(\(.*\))?)(,.*)?$`)

// pluginArgs are the arguments of editors' plugins, apart from the program's own.
type pluginArgs struct {
	rest    []string // the program's own arguments
	ignored []string // the names of the others
	// allowed and denied are the values of --allowedTools and --disallowedTools.
	allowed, denied []string
}

// splitPluginFlags takes pluginFlags out of args. To refuse them would close the terminal
// in which the plugin starts the program.
func splitPluginFlags(args []string) pluginArgs {
	known := pluginFlags()
	out := pluginArgs{rest: []string{}} // not nil: cobra would take the arguments of the process
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		values, ok := known[name]
		if args[i] == "--" {
			out.rest = append(out.rest, args[i:]...)
			return out
		}
		if !ok {
			out.rest = append(out.rest, args[i])
			if takesPrompt(args[i]) && i+1 < len(args) { // the prompt, whatever it looks like
				i++
				out.rest = append(out.rest, args[i])
			}
			continue
		}
		if !slices.Contains(out.ignored, name) {
			out.ignored = append(out.ignored, name)
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
