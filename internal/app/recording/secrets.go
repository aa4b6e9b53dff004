package recording

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// Secrets are values that are left out of a script, besides those that look like a key.
type Secrets []string

// minSecret is the length of the shortest value that is looked for, in bytes: a shorter
// one would be found in ordinary text.
const minSecret = 8

// keys matches the keys and tokens of known services, and private keys.
var keys = lazyregexp.New(`\b(sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,}|glpat-[A-Za-z0-9_-]{16,}|` +
	`AKIA[0-9A-Z]{16}|AIza[A-Za-z0-9_-]{30,}|xox[abprs]-[A-Za-z0-9-]{10,}|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})|` +
	`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)`)

// redact returns text without secrets, and whether it held any.
func (s Secrets) redact(text string) (out string, found bool) {
	out = keys.ReplaceAllString(text, "[secret]")
	for _, value := range s {
		if len(value) >= minSecret {
			out = strings.ReplaceAll(out, value, "[secret]")
		}
	}
	return out, out != text
}
