package edit

import (
	"strings"
)

// Result is the result of an edit.
type Result struct {
	Text   string // the new text of the file
	Stage  Stage  // the loosest stage that was needed
	Places int    // how many places were changed
	// Line is the first changed line, 1-based; zero if nothing changed, and for a cell of a
	// notebook.
	Line int
	// Matched holds the file's own text for each place that matched loosely.
	Matched []string
}

// Options are the options of Replace.
type Options struct {
	All bool   // every match, not a single one
	EOL string // the file's line ending, which added lines get; empty means \n
}

// Replace replaces before, which must occur exactly once unless opt.All is set, by after.
// It tries stage by stage, and the first stage with a match decides. Line endings are
// ignored. Common ends of before and after keep the file's own bytes. The error is a
// *MatchError.
func Replace(text, before, after string, opt Options) (Result, error) {
	src := newSource(text, opt.EOL)
	sent := before
	before, after = src.sent(before), src.sent(after)
	for stage := Exact; int(stage) < stageCount; stage++ {
		if !stage.compared() {
			continue
		}
		found := find(src.flat, before, after, stage, opt.All)
		if len(found) == 0 {
			continue
		}
		var spans []span
		for _, m := range found {
			spans = append(spans, m.edits...)
		}
		stage = src.stage(stage, spans, sent)
		if len(found) > 1 && (!opt.All || stage.single()) {
			return Result{}, several(src.flat, found, stage)
		}
		out := Result{Stage: stage, Places: len(found), Line: lineAt(src.flat, found[0].first())}
		for _, m := range found {
			if stage.Loose() {
				out.Matched = append(out.Matched, src.flat[m.from:m.to])
			}
		}
		out.Text = src.replace(spans)
		return out, nil
	}
	if exact := findExact(src.flat, before, after, opt.All); len(exact) == 1 { // find has left it out
		return Result{}, exact[0].joining(src.flat, before, after)
	}
	return Result{}, noMatch(src.flat, before, after)
}

// match is a place where a text was found, and the edits that the replacement makes
// there.
type match struct {
	from, to int
	edits    []span
}

// first returns the offset of the first edit of m.
func (m match) first() int {
	if len(m.edits) == 0 {
		return m.from
	}
	return m.edits[0].from
}

// find returns the matches of before at stage; overlapping ones only if they make the
// match ambiguous. Lines end in \n. If an edit would join two lines by mistake, nothing
// matches.
func find(text, before, after string, stage Stage, all bool) []match {
	var found []match
	switch stage {
	case Exact:
		found = findExact(text, before, after, all)
	case Indentation, Tabs, Uneven:
		return findShifted(text, before, after, stage, all)
	case EdgeLine, Numbers, Escapes:
		return findReading(text, before, after, stage)
	default:
		found = findNormal(text, before, after, stage, all)
	}
	if joinsLines(text, found, before, after, all) {
		return nil
	}
	return found
}

func findExact(text, before, after string, all bool) []match {
	edits := changes(before, after, Exact)
	var found []match
	for _, at := range indexAll(text, before, all) {
		m := match{from: at, to: at + len(before)}
		for _, e := range edits {
			m.edits = append(m.edits, span{at + e.from, at + e.to, e.text})
		}
		found = append(found, m)
	}
	return found
}

// findNormal compares the texts in the form of stage. If blanks were cut from the end of
// before, they were at the end of a line, so the match has to end there too.
func findNormal(text, before, after string, stage Stage, all bool) []match {
	whole, part := plain(text, stage), plain(before, stage)
	if part == "" {
		return nil
	}
	toLineEnd := isBlank(before[len(before)-1])
	edits := changes(before, after, stage)
	var places, offsets []int
	for _, at := range indexAll(whole, part, all) {
		end := at + len(part)
		if toLineEnd && end < len(whole) && whole[end] != '\n' {
			continue
		}
		places = append(places, at)
		offsets = append(offsets, at, end)
		for _, e := range edits {
			offsets = append(offsets, at+e.from, at+e.to)
		}
	}
	origin := origins(text, stage, offsets)
	var found []match
	for _, at := range places {
		ends, ok := placed([]span{{0, len(part), ""}}, at, origin)
		spans, also := placed(edits, at, origin)
		if !ok || !also {
			continue
		}
		m := match{from: ends[0].from, to: ends[0].to, edits: spans}
		straight := straightener(before, text[m.from:m.to], stage)
		for i := range m.edits {
			m.edits[i].text = straight.Replace(m.edits[i].text)
		}
		found = append(found, m)
	}
	return found
}

// indexAll returns the indexes of part in text, overlapping ones only if disjoint is not
// set.
func indexAll(text, part string, disjoint bool) []int {
	if part == "" {
		return nil
	}
	step := 1
	if disjoint {
		step = len(part)
	}
	var at []int
	for i := 0; i <= len(text)-len(part); {
		j := strings.Index(text[i:], part)
		if j < 0 {
			break
		}
		at = append(at, i+j)
		i += j + step
	}
	return at
}
