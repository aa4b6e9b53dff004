package home

import (
	"slices"
	"strings"
)

// Without returns env without the named variables, such as those that hold keys.
func Without(env, names []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name)
	})
}
