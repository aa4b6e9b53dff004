package shell

import "strings"

// Quote returns word in quotes, so that a POSIX shell takes it as it is.
func Quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'" }
