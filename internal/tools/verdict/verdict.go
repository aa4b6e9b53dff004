// Package verdict words what a reviewer made of a proposal, for the model and for the
// session's record. It guarantees that what a person said is never cut, and that a
// patch is shortened only where that is said.
package verdict

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// Words are the reviewer's own words, to follow a sentence: each on a line of its own.
func Words(v confirm.Verdict) string {
	var b strings.Builder
	switch {
	case v.Feedback == "":
	case v.Rule:
		b.WriteString("\n" + v.Feedback)
	default:
		b.WriteString("\nThe user says: " + v.Feedback)
	}
	for _, c := range v.Comments {
		fmt.Fprintf(&b, "\nThe user's comment on line %d of the proposal: %s", c.Line, c.Text)
	}
	return b.String()
}

// Said is Words as a text of its own, behind the patch of what the reviewer changed
// of the proposal, if anything.
func Said(v confirm.Verdict, patch string) string {
	words := Words(v)
	if patch != "" {
		return "From the proposal to what was written:\n" + strings.TrimSuffix(patch, "\n") + words
	}
	return strings.TrimPrefix(words, "\n")
}

// maxPatch is the number of bytes of a patch that a result has room for.
const maxPatch = 10_000

// Bounded is patch or, where it is too long, its first lines.
func Bounded(patch string) string {
	if len(patch) <= maxPatch {
		return patch
	}
	cut := strings.LastIndexByte(patch[:maxPatch], '\n') + 1
	return patch[:cut] + "[the rest is left out: read the file]\n"
}
