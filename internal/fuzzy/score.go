package fuzzy

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The scores of fzf.
const (
	scoreMatch      = 16
	scoreGapStart   = -3
	scoreGapExtend  = -1
	bonusBoundary   = scoreMatch / 2
	bonusDelimiter  = bonusBoundary + 1
	bonusNonWord    = scoreMatch / 2
	bonusCamel      = bonusBoundary + scoreGapExtend
	bonusRow        = -(scoreGapStart + scoreGapExtend)
	bonusFirstTimes = 2
)

// class is the kind of a character. Those above nonWord belong to words or delimit them.
type class uint8

const (
	blank class = iota
	nonWord
	delimiter
	lowercase
	uppercase
	letter
	digit
)

// classes maps bytes to kinds. Bytes beyond ASCII are letters.
var classes = func() (t [256]class) {
	for i := range t {
		switch c := byte(i); {
		case c >= 'a' && c <= 'z':
			t[i] = lowercase
		case c >= 'A' && c <= 'Z':
			t[i] = uppercase
		case c >= '0' && c <= '9':
			t[i] = digit
		case c >= utf8.RuneSelf:
			t[i] = letter
		case c == '/':
			t[i] = delimiter
		case c == ' ' || c == '\t':
			t[i] = blank
		default:
			t[i] = nonWord
		}
	}
	return t
}()

// bonuses holds the bonus for matching a byte of one class after one of another.
var bonuses = func() (t [digit + 1][digit + 1]int32) {
	for before := range t {
		for c := range t[before] {
			t[before][c] = bonus(class(before), class(c))
		}
	}
	return t
}()

func bonus(before, c class) int32 {
	if c > nonWord {
		switch before {
		case delimiter:
			return bonusDelimiter
		case blank, nonWord:
			return bonusBoundary
		case lowercase, uppercase, letter, digit:
		}
	}
	switch {
	case before == lowercase && c == uppercase, before != digit && c == digit:
		return bonusCamel
	case c == nonWord, c == delimiter:
		return bonusNonWord
	case c == blank:
		return bonusBoundary
	}
	return 0
}

// bonusAt returns the bonus of the byte at i. The start of a path counts as after a
// delimiter.
func bonusAt(path string, i int) int32 {
	if i == 0 {
		return bonuses[delimiter][classes[path[0]]]
	}
	return bonuses[classes[path[i-1]]][classes[path[i]]]
}

// guess reports whether path contains the letters of query, in lower case, in order, and
// scores one place: if possible in the last part of the path, and there the shortest one
// that ends first. For one letter it is the best.
func guess(query, path string) (int32, bool) {
	if len(query) == 1 {
		return single(query[0], path)
	}
	end := -1
	if base := strings.LastIndexByte(path, '/') + 1; base > 0 && base < len(path) {
		if at := seen(query, path[base:]); at >= 0 {
			end = base + at
		}
	}
	if end < 0 {
		if end = seen(query, path); end < 0 {
			return 0, false
		}
	}
	begin := end
	for q := len(query) - 1; ; begin-- {
		if lower(path[begin]) == query[q] {
			if q--; q < 0 {
				break
			}
		}
	}
	return along(query, path, begin, end), true
}

// single scores one letter at its best place.
func single(c byte, path string) (best int32, ok bool) {
	upper := c
	if c >= 'a' && c <= 'z' {
		upper = c - 'a' + 'A'
	}
	for _, c := range [...]byte{c, upper} {
		for i := strings.IndexByte(path, c); i >= 0; {
			best, ok = max(best, scoreMatch+bonusFirstTimes*bonusAt(path, i)), true
			next := strings.IndexByte(path[i+1:], c)
			if next < 0 {
				break
			}
			i += 1 + next
		}
	}
	return best, ok
}

// along scores the letters of query from begin to end.
func along(query, path string, begin, end int) int32 {
	var score, first int32
	q, row, gap := 0, 0, false
	for i := begin; i <= end; i++ {
		if lower(path[i]) != query[q] {
			if gap {
				score += scoreGapExtend
			} else {
				score += scoreGapStart
			}
			row, gap = 0, true
			continue
		}
		b := bonusAt(path, i)
		if row == 0 {
			first = b
		} else {
			if b >= bonusBoundary && b > first {
				first = b
			}
			b = max(b, first, bonusRow)
		}
		if q == 0 {
			b *= bonusFirstTimes
		}
		score += scoreMatch + b
		row, gap = row+1, false
		if q++; q == len(query) {
			break
		}
	}
	return score
}

// seen returns the index in s at which all of query has been seen, or -1.
func seen(query, s string) int {
	q := 0
	for i := range len(s) {
		if lower(s[i]) == query[q] {
			if q++; q == len(query) {
				return i
			}
		}
	}
	return -1
}

// match is a path with its exact rank.
type match struct {
	path  string
	score int32
	part  int // letters between the last slash before the match and it; large if a slash follows
}

// compare orders matches, better ones first.
func (m match) compare(n match) int {
	return cmp.Or(cmp.Compare(n.score, m.score), cmp.Compare(m.part, n.part), cmp.Compare(len(m.path), len(n.path)), strings.Compare(m.path, n.path))
}

// matrix finds the best place where a query matches. It is reused for each path to save
// memory.
type matrix struct {
	first []int   // by letter of the query: the first place where it can match
	score []int32 // by letter of the query, then byte of the path
	row   []int32 // number of matched bytes in a row that end there
	at    []int   // by letter of the query: its byte in the best place
}

// match returns the best place of query in path, which must match.
func (m *matrix) match(query, path string) match {
	n := len(path)
	m.prepare(query, path)
	for q := range len(query) {
		m.fill(query[q], path, q)
	}
	var best int32
	end, last := 0, len(query)-1
	for i, s := range m.score[last*n:] {
		if s > best {
			best, end = s, i
		}
	}
	m.place(n, last, end)
	part := m.at[0] - strings.LastIndexByte(path, '/') - 1
	if part < 0 {
		part = 1 << 16
	}
	return match{path: path, score: best, part: part}
}

// prepare clears the matrix and finds the first places where the letters can match.
func (m *matrix) prepare(query, path string) {
	size := len(path) * len(query)
	if cap(m.score) < size {
		m.score, m.row = make([]int32, size), make([]int32, size)
	}
	m.score, m.row, m.first = m.score[:size], m.row[:size], m.first[:0]
	clear(m.score)
	clear(m.row)
	for i := range len(path) {
		if q := len(m.first); q < len(query) && lower(path[i]) == query[q] {
			m.first = append(m.first, i)
		}
	}
}

// fill computes the scores of the query's qth letter from those of the letter before.
func (m *matrix) fill(c byte, path string, q int) {
	n := len(path)
	score, row := m.score[q*n:(q+1)*n], m.row[q*n:(q+1)*n]
	var left int32
	gap := false
	for i := m.first[q]; i < n; i++ {
		skip := left + scoreGapStart
		if gap {
			skip = left + scoreGapExtend
		}
		var hit int32
		switch {
		case lower(path[i]) != c:
		case q == 0:
			hit, row[i] = scoreMatch+bonusFirstTimes*bonusAt(path, i), 1
			skip = 0 // a late first letter costs nothing
		default:
			hit, row[i] = m.hit(path, q, i, skip)
		}
		left = max(hit, skip, 0)
		score[i], gap = left, hit < skip || hit == 0
	}
}

// hit scores a matching byte; skip is the score of leaving it out.
func (m *matrix) hit(path string, q, i int, skip int32) (score, row int32) {
	before := (q-1)*len(path) + i - 1
	score, row = m.score[before]+scoreMatch, m.row[before]+1
	b := bonusAt(path, i)
	better := b
	if row > 1 {
		first := bonusAt(path, i-int(row)+1)
		if b >= bonusBoundary && b > first {
			row = 1
		} else {
			better = max(b, bonusRow, first)
		}
	}
	if score+better < skip {
		return score + b, 0
	}
	return score + better, row
}

// place sets at to the bytes of the best place, which ends with the query's qth letter at
// end. n is the length of the path.
func (m *matrix) place(n, q, end int) {
	m.at = slices.Grow(m.at[:0], q+1)[:q+1]
	prefer := true
	for i := end; ; i-- {
		at := q*n + i
		var diagonal, left int32
		if q > 0 {
			diagonal = m.score[at-n-1]
		}
		if i > m.first[q] {
			left = m.score[at-1]
		}
		if s := m.score[at]; s > diagonal && (s > left || s == left && prefer) {
			m.at[q] = i
			if q--; q < 0 {
				return
			}
		}
		prefer = m.row[at] > 1 || at+n+1 < len(m.row) && m.row[at+n+1] > 0
	}
}
