package edit

import (
	"strings"
)

// Result is the result of an edit.
type Result struct {
	Text   string // the new text of the file
	Stage  Stage  // the loosest stage that was needed
	Places int    // how many places were changed
	// Line is the first changed line, 1-based; zero if nothing changed.
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
		spans := find(src.flat, before, after, stage, opt.All)
		if len(spans) == 0 {
			continue
		}
		stage = src.stage(stage, spans, sent)
		if len(spans) > 1 && (!opt.All || stage.rewrites()) {
			return Result{}, &MatchError{Stage: stage, Lines: linesOf(src.flat, spans), Places: len(spans)}
		}
		out := Result{Stage: stage, Places: len(spans), Line: lineAt(src.flat, src.narrow(spans)[0].from)}
		if stage.Loose() {
			out.Matched = matched(src.flat, before, stage, opt.All)
		}
		out.Text = src.replace(spans)
		return out, nil
	}
	return Result{}, noMatch(src.flat, before, after)
}

// matched returns the text of each match of before.
func matched(text, before string, stage Stage, all bool) []string {
	if stage == MixedEndings {
		stage = Exact
	}
	var out []string
	for _, sp := range find(text, before, "", stage, all) { // nothing in common with ""
		out = append(out, text[sp.from:sp.to])
	}
	return out
}

// find returns the matches of before at stage with their replacements; overlapping ones
// only if they make the match ambiguous. Lines end in \n.
func find(text, before, after string, stage Stage, all bool) []span {
	switch stage {
	case Exact:
		return findExact(text, before, after, all)
	case Indentation, Tabs:
		return findShifted(text, before, after, stage, all)
	case EdgeLine, Numbers, Escapes:
		return findReading(text, before, after, stage)
	default:
		return findNormal(text, before, after, stage, all)
	}
}

func findExact(text, before, after string, all bool) []span {
	var spans []span
	for _, at := range indexAll(text, before, all) {
		spans = append(spans, span{at, at + len(before), after})
	}
	return spans
}

// findNormal compares the texts in the form of stage. If blanks were cut from the end of
// before, they were at the end of a line, so the match has to end there too.
func findNormal(text, before, after string, stage Stage, all bool) []span {
	whole, part := plain(text, stage), plain(before, stage)
	if part == "" {
		return nil
	}
	toLineEnd := isBlank(before[len(before)-1])
	after = plainWhereSame(before, after, stage)
	same, tail := common(part, after)
	fill := after[same : len(after)-tail]
	var spans []span
	for _, at := range indexAll(whole, part, all) {
		end := at + len(part)
		if toLineEnd && end < len(whole) && whole[end] != '\n' {
			continue
		}
		from, to := origin(text, stage, at+same, end-tail)
		spans = append(spans, span{from, to, fill})
	}
	return spans
}

// plainWhereSame returns after with the lines at both ends that before shares in the form
// that stage compares.
func plainWhereSame(before, after string, stage Stage) string {
	lines := strings.Split(after, "\n")
	head, tail := commonLines(strings.Split(before, "\n"), lines)
	for i := range lines {
		if i < head || i >= len(lines)-tail {
			lines[i] = lineKey(lines[i], stage)
		}
	}
	return strings.Join(lines, "\n")
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
