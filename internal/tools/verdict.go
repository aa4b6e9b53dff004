package tools

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// verdictForModel are the reviewer's own words, to follow a sentence: each on a line of its own.
func verdictForModel(v confirm.Verdict) string {
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

// verdictForRecord is Words as a text of its own, behind the patch of what the reviewer changed
// of the proposal, if anything.
func verdictForRecord(v confirm.Verdict, patch string) string {
	words := verdictForModel(v)
	if patch != "" {
		return "From the proposal to what was written:\n" + strings.TrimSuffix(patch, "\n") + words
	}
	return strings.TrimPrefix(words, "\n")
}

// maxPatch is the number of bytes of a patch that a result has room for.
const maxPatch = 10_000

// boundedPatch is patch or, where it is too long, its first lines.
func boundedPatch(patch string) string {
	if len(patch) <= maxPatch {
		return patch
	}
	cut := strings.LastIndexByte(patch[:maxPatch], '\n') + 1
	return patch[:cut] + "[the rest is left out: read the file]\n"
}
