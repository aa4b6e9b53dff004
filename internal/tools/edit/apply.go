package edit

import (
	"errors"
	"fmt"
	"strings"
)

// PatchError lists the hunks that do not apply. Nothing was changed.
type PatchError struct {
	Failed []error // one for each failed hunk, in order
	Total  int     // hunks in the patch
}

// Error names each failed hunk with its reason.
func (e *PatchError) Error() string {
	return fmt.Sprintf("%d of %d hunks do not apply", len(e.Failed), e.Total) + Faults(e.Failed)
}

// maxFaults is the size in bytes from which on the faults of one call are only named.
const maxFaults = 10_000

// Faults joins the errors of the parts of one call, each on a new line. Those behind maxFaults
// are shortened to their first line.
func Faults(failed []error) string {
	var b strings.Builder
	for _, err := range failed {
		fault := err.Error()
		if b.Len()+len(fault) > maxFaults {
			fault, _, _ = strings.Cut(fault, "\n")
		}
		b.WriteString("\n" + fault)
	}
	return b.String()
}

// Apply applies all hunks of p to text, each to the result of the previous ones, or
// returns a *PatchError. Added lines end in eol.
func (p Patch) Apply(text, eol string) (Result, error) {
	src := newSource(text, eol)
	a := applier{text: text, eol: src.eol, mixed: src.mixed}
	uniform := withEOL(src.flat, src.eol) == text
	if uniform {
		a.text, a.eol = src.flat, "\n"
	}
	var failed []error
	for i := range p.Hunks {
		if err := a.apply(&p.Hunks[i]); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", p.Hunks[i].Title, err))
		}
	}
	if len(failed) > 0 {
		return Result{}, &PatchError{Failed: failed, Total: len(p.Hunks)}
	}
	a.out.Text = a.text
	if uniform {
		a.out.Text = withEOL(a.text, src.eol)
	}
	return a.out, nil
}

// applier applies one patch.
type applier struct {
	text  string
	eol   string
	mixed bool // the text has more than one line ending
	next  int  // index of the first line behind the last hunk
	done  []placement
	out   Result
}

func (a *applier) apply(h *Hunk) error {
	lines := split(a.text)
	p, stage, err := a.locate(lines, h)
	if err != nil {
		return err
	}
	h, at := &p.hunk, p.at
	if stage != Exact || a.mixed {
		h.pair(stage)
	}
	fill, ok := a.fill(lines, p, stage)
	if h.scope != nil {
		if _, all := h.scope.regions(lines); !all {
			stage = MissingAnchor
		}
	}
	if !ok {
		return errors.New("the lines match with another indentation, which that of the added lines does not follow from: read the file and send its exact text")
	}
	from, to := bounds(lines, at, at+len(h.Old), len(a.text))
	a.text = a.text[:from] + fill + a.text[to:]
	a.next = at + len(h.New)
	a.done = append(a.done, p)
	a.out.Places++
	a.out.Stage = max(a.out.Stage, stage)
	if a.mixed && len(h.Old) > 0 {
		a.out.Stage = max(a.out.Stage, MixedEndings)
	}
	if a.out.Stage.Loose() && len(h.Old) > 0 {
		a.out.Matched = append(a.out.Matched, matchedLines(lines[at:at+len(h.Old)]))
	}
	if a.out.Line == 0 {
		a.out.Line = at + 1
	}
	return nil
}

// placement is a place that a hunk fits: the index of its first line.
type placement struct {
	hunk  Hunk // as read at the stage that matched
	at    int
	shift shift
}

// moved returns the index that the line at index has once the hunk is applied.
func (p placement) moved(index int) int {
	end := p.at + len(p.hunk.Old)
	switch {
	case index < p.at:
		return index
	case index >= end:
		return index + len(p.hunk.New) - len(p.hunk.Old)
	}
	for i, k := range p.hunk.common {
		if p.at+k >= index && k >= 0 {
			return p.at + i
		}
	}
	return p.at + len(p.hunk.New)
}

// now returns the index that line number of the old file has after the hunks so far.
func (a *applier) now(number int) int {
	index := number - 1
	for _, p := range a.done {
		index = p.moved(index)
	}
	return index
}

// locate returns the place that h matches.
func (a *applier) locate(lines []line, h *Hunk) (placement, Stage, error) {
	if len(h.Old) == 0 {
		at, err := a.insertion(lines, h)
		return placement{hunk: *h, at: at}, Exact, err
	}
	if h.scope != nil && h.scope.first {
		a.next = 0
	}
	var elsewhere []placement
	for stage := Exact; int(stage) < stageCount; stage++ {
		if !stage.compared() {
			continue
		}
		found := a.placements(lines, h, stage)
		if h.scope != nil && len(found) > 0 {
			elsewhere = found
			found = h.scope.within(lines, found)
		}
		if len(found) == 0 {
			continue
		}
		i, err := a.choose(lines, found, stage)
		if err != nil {
			return placement{}, stage, err
		}
		return found[i], stage, nil
	}
	if len(elsewhere) > 0 {
		return placement{}, 0, h.scope.outside(elsewhere)
	}
	return placement{}, 0, noMatch(strings.ReplaceAll(a.text, "\r\n", "\n"), joinLines(h.Old), joinLines(h.New))
}

// placements returns the places that h fits at stage.
func (a *applier) placements(lines []line, h *Hunk, stage Stage) []placement {
	var out []placement
	if !stage.rewrites() {
		at, shifts := windows(lines, h.Old, stage)
		for i := range at {
			out = append(out, placement{*h, at[i], shifts[i]})
		}
		return out
	}
	var flat string
	var flatLines []line
	for _, r := range readings(joinLines(h.Old), joinLines(h.New), stage) {
		as := newHunk(textLines(r.before), textLines(r.after))
		as.Title, as.oldOpen, as.newOpen, as.scope = h.Title, h.oldOpen, h.newOpen, h.scope
		at, shifts := windows(lines, as.Old, Exact)
		if r.fits != nil && flat == "" {
			flat = strings.ReplaceAll(a.text, "\r\n", "\n")
			flatLines = split(flat)
		}
		for i := range at {
			if r.fits == nil || r.fits(flat, flatLines[at[i]].from) {
				out = append(out, placement{as, at[i], shifts[i]})
			}
		}
	}
	return out
}

// choose returns the intended place: the only one, the one at the header's line, or the
// only one after the previous hunk.
func (a *applier) choose(lines []line, found []placement, stage Stage) (int, error) {
	behind, candidate := 0, 0
	line, inOrder := found[0].hunk.at, found[0].hunk.scope != nil
	for i, p := range found {
		if line > 0 && p.at == a.now(line) && stage != Uneven {
			return i, nil
		}
		if p.at >= a.next {
			behind++
			candidate = i
		}
	}
	switch {
	case len(found) == 1:
		return 0, nil
	case behind == 1 && a.next > 0 && (line > 0 || inOrder) && stage != Uneven:
		return candidate, nil
	}
	e := &ambiguous{stage: stage, places: len(found)}
	var places []region
	for _, p := range found[:min(len(found), maxPlaces)] {
		e.lines = append(e.lines, p.at+1)
		places = append(places, region{p.at, p.at + len(p.hunk.Old)})
	}
	e.around = around(lines, places, maxDiff-len(e.Error()))
	return 0, e
}

// ambiguous is the error for a hunk that fits in several places.
type ambiguous struct {
	stage  Stage
	places int
	lines  []int
	around string
}

// Error lists the places.
func (e *ambiguous) Error() string {
	return fmt.Sprintf("fits in %d places (lines %s) by %s: add lines of context until it is unique%s",
		e.places, joinInts(e.lines), e.stage, e.around)
}

// insertion returns the place of a hunk without old lines.
func (a *applier) insertion(lines []line, h *Hunk) (int, error) {
	if len(lines) == 0 {
		return 0, nil
	}
	if h.scope != nil && h.scope.atEnd {
		return len(lines), nil
	}
	at := a.now(h.at)
	if h.at == 0 || at < 0 || at > len(lines) {
		return 0, errors.New("has no lines that show its place: add lines of context")
	}
	return at, nil
}

// fill returns the new bytes for the lines from at on. Common lines stay as in the file; added
// lines are shifted, keep the file's own characters and get the file's line ending.
func (a *applier) fill(lines []line, p placement, stage Stage) (string, bool) {
	h, at := &p.hunk, p.at
	var b strings.Builder
	if at == len(lines) && a.text != "" && !strings.HasSuffix(a.text, "\n") {
		b.WriteString(a.eol)
	}
	straight := straightener(joinLines(h.Old), matchedLines(lines[at:at+len(h.Old)]), stage)
	shifted := true
	h.runs(func(k, c, j, i int) {
		have, sent, added := lines[at+k:at+c], h.Old[k:c], h.New[j:i]
		switch stage {
		case Spacing, Typographic:
			text := adapt(matchedLines(have), joinLines(sent), joinLines(added), stage)
			added = textLines(straight.Replace(text))
		default:
			moved, ok := p.shift.run(added, sent, have)
			added, shifted = moved, shifted && ok
		}
		for _, l := range added {
			b.WriteString(l + a.eol)
		}
		if c < len(h.Old) {
			b.WriteString(lines[at+c].text + or(lines[at+c].eol, a.eol))
		}
	})
	if !shifted {
		return "", false
	}
	if at+len(h.Old) < len(lines) || !a.endsOpen(h) {
		return b.String(), true
	}
	open := strings.TrimSuffix(b.String(), "\n")
	if a.mixed {
		open = strings.TrimSuffix(open, "\r")
	}
	return open, true
}

// endsOpen reports whether the file has no final line ending after a hunk at its end: as
// the patch marks it, else as before.
func (a *applier) endsOpen(h *Hunk) bool {
	if h.oldOpen || h.newOpen {
		return h.newOpen
	}
	return a.text != "" && !strings.HasSuffix(a.text, "\n")
}

func matchedLines(lines []line) string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.text
	}
	return joinLines(texts)
}

func joinLines(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
