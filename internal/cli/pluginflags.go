package cli

import (
	"regexp"
	"slices"
	"strings"
	"sync"
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
var toolName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(mcp__\S*|[A-Z][A-Za-z]+(\(.*\))?)$`)
})

// withoutPluginFlags returns args without pluginFlags, and the names of those removed. To
// refuse them would close the terminal in which the plugin starts the program.
func withoutPluginFlags(args []string) (rest, ignored []string) {
	known := pluginFlags()
	rest = []string{} // not nil: cobra would take the arguments of the process
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(args[i], "=")
		values, ok := known[name]
		if args[i] == "--" {
			return append(rest, args[i:]...), ignored
		}
		if !ok {
			rest = append(rest, args[i])
			continue
		}
		if !slices.Contains(ignored, name) {
			ignored = append(ignored, name)
		}
		if !joined {
			i += valuesOf(values, args[i+1:])
		}
	}
	return rest, ignored
}

// valuesOf returns how many arguments in rest are values of the flag before it.
func valuesOf(values int, rest []string) int {
	if values >= 0 {
		return min(values, len(rest))
	}
	n := 0
	for n < len(rest) && !strings.HasPrefix(rest[n], "-") && (n == 0 || toolName().MatchString(rest[n])) {
		n++
	}
	return n
}
