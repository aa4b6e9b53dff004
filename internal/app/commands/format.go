package commands

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// remarks describes a file beside its diff; it may be empty.
func remarks(n undo.Net) string {
	var out []string
	switch {
	case n.Err != nil:
		return "unknown: " + n.Err.Error()
	case n.Created && n.Deleted:
		out = append(out, "created and deleted")
	case n.Created:
		out = append(out, "new")
	case n.Deleted:
		out = append(out, "deleted")
	}
	if n.Mode != "" {
		out = append(out, n.Mode)
	}
	if n.Others {
		out = append(out, "with changes by others")
	}
	return joined(out...)
}

// summary counts the changed files and lines.
func summary(nets []undo.Net) string {
	if len(nets) == 0 {
		return "no change"
	}
	return plural.Of(len(nets), "file") + " " + signed(total(nets))
}

func total(nets []undo.Net) (added, removed int) {
	for _, n := range nets {
		a, r := n.Counts()
		added, removed = added+a, removed+r
	}
	return added, removed
}

// sum counts the files and lines that a plan would change.
func sum(p undo.Plan) string {
	added, removed := 0, 0
	for _, ch := range p.Changes {
		a, r := diff.Count(ch.Text, ch.After)
		added, removed = added+a, removed+r
	}
	return plural.Of(len(p.Changes), "file") + " " + signed(added, removed)
}

func signed(added, removed int) string { return fmt.Sprintf("+%d −%d", added, removed) }

// joined joins the parts that are not empty.
func joined(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, " · ")
}

// maxTitle is how many bytes of a prompt a list shows.
const maxTitle = 300

// oneLine returns the beginning of a text, on one line.
func oneLine(text string) string { return clip.Line(clip.Bytes(text, maxTitle, "")) }

// maxSketch is how many lines of a prompt, and how many files, a preview shows.
const maxSketch = 5

// short returns the first lines.
func short(lines []string) []string {
	if len(lines) <= maxSketch {
		return lines
	}
	return append(slices.Clone(lines[:maxSketch]), fmt.Sprintf("… %d more", len(lines)-maxSketch))
}

// ago describes the age d of an instant; "" if at is zero.
func ago(d time.Duration, at time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	}
	return fmt.Sprintf("%d days ago", d/(24*time.Hour))
}
