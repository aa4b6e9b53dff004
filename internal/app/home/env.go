package home

import (
	"slices"
	"strings"
)

// Without returns env less the variables with these names, such as those that hold
// keys.
func Without(env, names []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name)
	})
}
