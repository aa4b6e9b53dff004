package diff

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of Words.
const (
	maxWordLine  = 4 << 10 // bytes; longer lines are compared at their ends only
	minWordShare = 0.2     // of the longer line must be unchanged, or nothing is marked
)

// Words compares two versions of one line and returns the byte ranges that changed in
// each, at word borders. It returns nothing if the lines have too little in common for
// marks to help.
func Words(a, b string) (inA, inB []Span) {
	if len(a)+len(b) > 2*maxWordLine {
		return middles(a, b)
	}
	wa, wb := Tokens(a), Tokens(b)
	keepA, keepB := make([]bool, len(wa)), make([]bool, len(wb))
	keep := func(i, j int) { keepA[i], keepB[j] = true, true }
	start := 0
	for start < len(wa) && start < len(wb) && wa[start] == wb[start] {
		keep(start, start)
		start++
	}
	endA, endB := len(wa), len(wb)
	for endA > start && endB > start && wa[endA-1] == wb[endB-1] {
		endA--
		endB--
		keep(endA, endB)
	}
	if cells := (endA - start + 1) * (endB - start + 1); cells <= maxCells {
		for _, p := range common(wa[start:endA], wb[start:endB], make([]uint16, cells)) {
			keep(start+p[0], start+p[1])
		}
	}
	if tooDifferent(wa, wb, keepA) {
		return nil, nil
	}
	return changed(wa, keepA), changed(wb, keepB)
}

// middles is Words for long lines: it marks all between their common beginning and end.
func middles(a, b string) (inA, inB []Span) {
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	for !border(a, start) || !border(b, start) {
		start--
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1] == b[endB-1] {
		endA--
		endB--
	}
	for !border(a, endA) || !border(b, endB) {
		endA++
		endB++
	}
	longer := max(letters(a), letters(b))
	if kept := letters(a[:start]) + letters(a[endA:]); float64(kept) < minWordShare*float64(longer) {
		return nil, nil
	}
	if start < endA {
		inA = []Span{{start, endA}}
	}
	if start < endB {
		inB = []Span{{start, endB}}
	}
	return inA, inB
}

// border reports whether a word may begin or end at byte i of s.
func border(s string, i int) bool {
	if i == 0 || i == len(s) {
		return true
	}
	if !utf8.RuneStart(s[i]) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i:])
	return kind(after) == 0 || kind(before) != kind(after)
}

// letters returns the number of bytes of s that are no blanks.
func letters(s string) int {
	n := 0
	for i := range len(s) {
		if s[i] > ' ' {
			n++
		}
	}
	return n
}

// Tokens cuts s into words, runs of blanks and single other characters.
func Tokens(s string) []string {
	var out []string
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		if k := kind(r); k != 0 {
			n = strings.IndexFunc(s, func(r rune) bool { return kind(r) != k })
			if n < 0 {
				n = len(s)
			}
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

// kind returns the same number for characters that form one word.
func kind(r rune) int {
	switch {
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return 1
	case unicode.IsSpace(r):
		return 2
	}
	return 0
}

// tooDifferent compares the unchanged part of a with the longer line, without blanks.
func tooDifferent(a, b []string, keepA []bool) bool {
	weigh := func(ws []string, keep []bool) (total, kept int) {
		for i, w := range ws {
			if strings.TrimSpace(w) == "" {
				continue
			}
			total += len(w)
			if keep != nil && keep[i] {
				kept += len(w)
			}
		}
		return total, kept
	}
	lenA, kept := weigh(a, keepA)
	lenB, _ := weigh(b, nil)
	return float64(kept) < minWordShare*float64(max(lenA, lenB))
}

// changed returns the ranges of the words that changed. Blanks between two of them are
// included.
func changed(ws []string, keep []bool) []Span {
	var out []Span
	pos, gapStart := 0, -1
	for i, w := range ws {
		end := pos + len(w)
		switch blank := strings.TrimSpace(w) == ""; {
		case keep[i] && !blank:
			gapStart = -1
		case keep[i] && len(out) > 0 && out[len(out)-1].End == pos:
			gapStart = pos
		case !keep[i] && len(out) > 0 && (out[len(out)-1].End == pos || out[len(out)-1].End == gapStart):
			out[len(out)-1].End = end
		case !keep[i]:
			out = append(out, Span{pos, end})
		}
		pos = end
	}
	return out
}
