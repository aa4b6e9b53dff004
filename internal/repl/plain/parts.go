package plain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// parts are the parts of a plan that a person can leave out, by number: the files, or the hunks of
// files that are there before and after.
type parts struct {
	plan  *confirm.Edits
	diffs []*diff.Diff // by file; nil for a file that is only left out as a whole
	all   []part
}

// part is a hunk of a file, or all of it.
type part struct {
	file int
	hunk *diff.Hunk // nil for the whole file
}

// hunkContext is the number of unchanged lines around a change that belong to its hunk.
const hunkContext = 1

// partsOf returns the parts of a plan.
func partsOf(plan *confirm.Edits) parts {
	p := parts{plan: plan, diffs: make([]*diff.Diff, len(plan.Changes))}
	for i, c := range plan.Changes {
		d := diff.Lines(c.Text, c.After)
		hunks := d.Hunks(hunkContext)
		if !plan.Parts || c.Delete || !c.Exists || len(hunks) < 2 {
			p.all = append(p.all, part{file: i})
			continue
		}
		p.diffs[i] = d
		for k := range hunks {
			p.all = append(p.all, part{i, &hunks[k]})
		}
	}
	return p
}

// describe returns the parts with their numbers, if they can be left out.
func (p parts) describe() string {
	if p.plan.One() {
		return sanitize.Exact(changed(p.plan.Changes[0]))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s:\n", sanitize.Line(p.plan.Title))
	for n, one := range p.all {
		c := p.plan.Changes[one.file]
		switch {
		case p.plan.Parts:
			fmt.Fprintf(&b, "Part %d of %d: %s\n", n+1, len(p.all), sanitize.Name(c.Name))
		case p.plan.Review:
			added, removed := diff.Count(c.Text, c.After)
			fmt.Fprintf(&b, "File %d of %d: %s, +%d −%d", n+1, len(p.all), sanitize.Name(c.Label()), added, removed)
			if slices.Contains(p.plan.Out, one.file) {
				b.WriteString("; you left it out, and a yes leaves it out too")
			}
			b.WriteString("\n")
		}
		if one.hunk == nil {
			b.WriteString(sanitize.Exact(changed(c)))
			continue
		}
		alone := p.diffs[one.file].Compose(one.has)
		endings, unified := unifiedOf(c.Name, c.Name, c.Text, alone)
		b.WriteString(sanitize.Exact(endings + unified))
	}
	return b.String()
}

// has reports whether an edit of the file belongs to the hunk.
func (one part) has(edit int) bool { return edit >= one.hunk.First && edit < one.hunk.Last }

// askParts is ask for a plan of parts.
func askParts(p *confirm.Edits, numbered bool) string {
	but, without := "", "all but these"
	if len(p.Out) > 0 {
		var out []string
		for _, i := range p.Out {
			out = append(out, strconv.Itoa(i+1))
		}
		but, without = " but "+strings.Join(out, ", "), "nor these"
	}
	switch {
	case p.Parts && numbered:
		return "answer: 1 yes to all parts, 3 no, only and the numbers of parts, or without and the numbers of parts to leave out: "
	case p.Parts:
		return "Undo all of it? [y / n / only 1 3: only these parts / without 2: all but these] "
	case numbered:
		return "answer: 1 yes to all files" + but + ", 3 no, without and the numbers of files to leave out, or 3 and why not: "
	}
	return "Write all files" + but + "? [y / n / n why not / without 2 5: " + without + "] "
}

// verdict returns the approval of the parts with the numbers in list, or of all others, without the
// files that were left out before.
func (p parts) verdict(list string, only bool) (confirm.Verdict, meaning) {
	named, ok := numbers(list, len(p.all))
	if !ok {
		return confirm.Verdict{}, unclear
	}
	v := confirm.Verdict{By: confirm.Terminal, Decision: confirm.Approve, Texts: map[int]string{}}
	taken := func(n int) bool { return slices.Contains(named, n) == only }
	for i := range p.plan.Changes {
		some, all := false, true
		for n, one := range p.all {
			if one.file == i {
				some, all = some || taken(n), all && taken(n)
			}
		}
		switch {
		case !some || slices.Contains(p.plan.Out, i):
			v.Except = append(v.Except, i)
		case !all:
			v.Texts[i] = p.diffs[i].Compose(func(edit int) bool {
				return taken(slices.IndexFunc(p.all, func(one part) bool { return one.file == i && one.has(edit) }))
			})
		}
	}
	if len(v.Except) == len(p.plan.Changes) {
		return confirm.Verdict{}, unclear
	}
	return v, answers
}
