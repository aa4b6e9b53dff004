package edit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// reading is another way to read the texts of a model: both without a mistake that
// models make.
type reading struct {
	before, after string
	fits          func(text string, at int) bool // nil if any place will do
}

// readings returns the other ways to read before and after at stage, each with another
// text for before. If two differ in the replacement alone, it returns no reading.
func readings(before, after string, stage Stage) []reading {
	var all []reading
	switch stage {
	case EdgeLine:
		all = edgeReadings(before, after)
	case Numbers:
		all = numberReadings(before, after)
	case Escapes:
		all = escapeReadings(before, after)
	}
	var out []reading
	seen := map[string]string{}
	for _, r := range all {
		fill, again := seen[r.before]
		switch {
		case again && fill != r.after:
			return nil
		case again, strings.TrimSpace(r.before) == "":
			continue
		}
		seen[r.before] = r.after
		out = append(out, r)
	}
	return out
}

// findReading returns the exact matches of before, read differently. If several readings
// match, all their matches are returned, so that the match is ambiguous.
func findReading(text, before, after string, stage Stage) []match {
	var found []match
	for _, r := range readings(before, after, stage) {
		places := findExact(text, r.before, r.after, false)
		if r.fits != nil {
			places = slices.DeleteFunc(places, func(m match) bool { return !r.fits(text, m.from) })
		}
		if joinsLines(text, places, r.before, r.after, false) {
			return nil
		}
		found = append(found, places...)
	}
	return found
}

// edgeReadings removes one blank line from the beginning or the end of before, or the
// last line ending, which the file's last line or after may lack. If after has it too, it
// goes as well.
func edgeReadings(before, after string) []reading {
	var out []reading
	if rest, ok := cutFirstBlank(before); ok {
		fill, both := cutFirstBlank(after)
		if !both {
			fill = after
		}
		switch {
		case !strings.HasPrefix(rest, "\n"):
			out = append(out, reading{rest, fill, atLineStart})
		case strings.HasPrefix(fill, "\n"): // rest begins with the end of the line before
			out = append(out, reading{before: rest, after: fill})
		case strings.HasPrefix(after, "\n"):
			out = append(out, reading{before: rest, after: after})
		}
	}
	rest, ok := cutLastBlank(before)
	if ok && (after == "" || strings.HasSuffix(after, "\n")) {
		fill, both := cutLastBlank(after)
		if !both {
			fill = after
		}
		out = append(out, reading{before: rest, after: fill})
	}
	if rest, ok := strings.CutSuffix(before, "\n"); ok && !strings.HasSuffix(rest, "\n") {
		fill, both := strings.CutSuffix(after, "\n")
		out = append(out, reading{rest, fill, func(text string, at int) bool {
			end := at + len(rest)
			return end == len(text) || !both && after != "" && text[end] == '\n'
		}})
	}
	return out
}

func cutFirstBlank(s string) (string, bool) {
	first, rest, ok := strings.Cut(s, "\n")
	return rest, ok && strings.TrimSpace(first) == ""
}

// cutLastBlank removes a blank line from the end of s, which keeps its last line ending.
func cutLastBlank(s string) (string, bool) {
	body := strings.TrimSuffix(s, "\n")
	i := strings.LastIndexByte(body, '\n')
	if i < 0 || strings.TrimSpace(body[i:]) != "" || i+1 == len(s) {
		return s, false
	}
	return s[:i+1], true
}

func atLineStart(text string, at int) bool { return at == 0 || text[at-1] == '\n' }

func atLineEnd(text string, at int) bool { return at == len(text) || text[at] == '\n' }

// numberedLine matches a line with the number that a listing puts before it.
var numberedLine = lazyregexp.New(`^ *(\d+)(?: ?(\|)(?: |$)|(→)|(:)|(\t))`)

// numberReadings removes the line numbers of a listing from both texts. Those of before
// have to be consecutive; after has them on each line or on none.
func numberReadings(before, after string) []reading {
	plain, first, mark, ok := withoutNumbers(before, true)
	if !ok {
		return nil
	}
	fill, _, fillMark, numbered := withoutNumbers(after, false)
	switch {
	case !numbered && fillMark != "":
		return nil
	case numbered && fillMark != mark:
		return nil
	case !numbered:
		fill = after
	}
	return []reading{{plain, fill, func(text string, at int) bool {
		end := at + len(plain)
		whole := atLineStart(text, at) && (atLineEnd(text, end) || strings.HasSuffix(plain, "\n"))
		return whole && (mark == "|" || mark == "→" || lineAt(text, at) == first)
	}}}
}

// withoutNumbers returns s without line numbers, the first number and the mark that
// follows it. ok is false if a line has none or another mark; mark is set even then, if
// any line has a number.
func withoutNumbers(s string, consecutive bool) (plain string, first int, mark string, ok bool) {
	lines := strings.Split(s, "\n")
	last := len(lines) - 1
	ok = true
	for i, l := range lines {
		if i == last && l == "" {
			break
		}
		m := numberedLine.FindStringSubmatch(l)
		if m == nil {
			ok = false
			continue
		}
		number, err := strconv.Atoi(m[1])
		found := m[2] + m[3] + m[4] + m[5]
		if i == 0 {
			first = number
		}
		if err != nil || (mark != "" && mark != found) || (consecutive && number != first+i) {
			ok = false
		}
		mark = found
		lines[i] = l[len(m[0]):]
	}
	return strings.Join(lines, "\n"), first, mark, ok && mark != ""
}

// escapeReadings undoes too much escaping: doubled backslashes, escaped quotes, escaped
// line ends and tabs, or all of them, as in a JSON text that was encoded twice, and entities.
// after has to be escaped throughout in the same way, or not at all.
func escapeReadings(before, after string) []reading {
	var out []reading
	for _, undo := range []func(string) (string, bool){halveBackslashes, unescapeQuotes, unescapeLines, unescapeAll, unescapeEntities} {
		plain, ok := undo(before)
		if !ok || plain == before {
			continue
		}
		if fill, ok := undo(after); ok {
			out = append(out, reading{before: plain, after: fill})
		}
	}
	return out
}

// backslashes yields the size of each run of backslashes of s, and the byte after it or
// zero.
func backslashes(s string, yield func(run int, next byte)) {
	for i := 0; i < len(s); {
		start := i
		for i < len(s) && s[i] == '\\' {
			i++
		}
		next := byte(0)
		if i < len(s) {
			next = s[i]
		}
		yield(i-start, next)
		i++
	}
}

// halveBackslashes fails if a backslash is alone.
func halveBackslashes(s string) (string, bool) {
	ok := true
	backslashes(s, func(run int, _ byte) { ok = ok && run%2 == 0 })
	return strings.ReplaceAll(s, `\\`, `\`), ok
}

// unescapeQuotes fails if a double quote is not escaped, or a backslash is.
func unescapeQuotes(s string) (string, bool) {
	ok := !strings.Contains(s, `\\`)
	backslashes(s, func(run int, next byte) { ok = ok && (next != '"' || run == 1) })
	return strings.ReplaceAll(s, `\"`, `"`), ok
}

// unescapeLines fails if a backslash is escaped, if s has line ends as well, or if one
// seems to be in a literal.
func unescapeLines(s string) (string, bool) {
	if strings.Contains(s, `\\`) || strings.Contains(s, "\n") {
		return s, false
	}
	lines := strings.Split(strings.ReplaceAll(s, `\t`, "\t"), `\n`)
	for _, l := range lines {
		for _, quote := range []string{`"`, "'", "`"} {
			if strings.Count(l, quote)%2 != 0 {
				return s, false
			}
		}
	}
	return strings.Join(lines, "\n"), true
}

// unescapeAll reads s as the inside of a JSON string. It fails if s is not valid.
func unescapeAll(s string) (string, bool) {
	body := strings.TrimSuffix(s, "\n")
	if strings.Contains(body, "\n") {
		return s, false
	}
	body = strings.ReplaceAll(strings.ReplaceAll(body, `\/`, `/`), "\t", `\t`)
	plain, err := strconv.Unquote(`"` + body + `"`)
	return plain + s[len(strings.TrimSuffix(s, "\n")):], err == nil
}

var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#34;", `"`, "&apos;", "'", "&#39;", "'", "&amp;", "&")

// unescapeEntities fails if a < or > is not escaped.
func unescapeEntities(s string) (string, bool) {
	return entities.Replace(s), !strings.ContainsAny(s, "<>")
}
