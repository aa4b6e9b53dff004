package diff

import (
	"slices"
	"sort"
	"strings"
)

// Bounds that keep the cost of Lines near n log n.
const (
	// maxDepth is the number of times a gap between anchors is searched for new anchors.
	maxDepth = 12
	// maxCells is the largest table filled for a gap without anchors. A larger gap counts
	// as replaced entirely.
	maxCells = 1 << 16
)

// Lines compares a and b.
func Lines(a, b string) *Diff {
	d := &Diff{A: split(a), B: split(b)}
	start := 0
	for start < len(d.A) && start < len(d.B) && d.A[start] == d.B[start] {
		start++
	}
	aEnd, bEnd := len(d.A), len(d.B)
	for aEnd > start && bEnd > start && d.A[aEnd-1] == d.B[bEnd-1] {
		aEnd--
		bEnd--
	}
	if aEnd+bEnd == 2*start {
		return d // equal
	}
	m := newMatcher(d.A[start:aEnd], d.B[start:bEnd])
	m.gap(region{0, len(m.a), 0, len(m.b)}, 0)
	d.Edits = edits(m.match, len(m.b), start)
	return d
}

// Counts returns the number of lines added and removed.
func (d *Diff) Counts() (added, removed int) {
	for _, e := range d.Edits {
		added += e.BEnd - e.BStart
		removed += e.AEnd - e.AStart
	}
	return added, removed
}

// Count returns the numbers of lines that b adds to a and removes from it.
func Count(a, b string) (added, removed int) { return Lines(a, b).Counts() }

// split cuts s after each "\n".
func split(s string) []string {
	if s == "" {
		return nil
	}
	lines := make([]string, 0, strings.Count(s, "\n")+1)
	for s != "" {
		i := strings.IndexByte(s, '\n') + 1
		if i == 0 {
			i = len(s)
		}
		lines = append(lines, s[:i])
		s = s[i:]
	}
	return lines
}

// edits turns matched lines into the ranges between them. offset is added to every index.
func edits(match []int32, lenB, offset int) []Edit {
	var out []Edit
	i, j := 0, 0
	for k := 0; k <= len(match); k++ {
		next := lenB
		if k < len(match) {
			if match[k] < 0 {
				continue
			}
			next = int(match[k])
		}
		if i < k || j < next {
			out = append(out, Edit{i + offset, k + offset, j + offset, next + offset})
		}
		i, j = k+1, next+1
	}
	return out
}

// region is a part of both texts still to be compared.
type region struct{ aStart, aEnd, bStart, bEnd int }

// matcher finds the line of b that each line of a is kept as.
type matcher struct {
	a, b  []int32       // lines as numbers: equal lines have equal numbers
	match []int32       // per line of a: its index in b, or -1
	seen  []occurrences // per number; scratch of anchors
	cells []uint16
}

// occurrences counts a line in a region.
type occurrences struct {
	inA, inB int32
	at       int32 // the last index in b
}

func newMatcher(a, b []string) *matcher {
	numbers := make(map[string]int32, len(a))
	number := func(lines []string) []int32 {
		out := make([]int32, len(lines))
		for i, line := range lines {
			n, ok := numbers[line]
			if !ok {
				n = int32(len(numbers))
				numbers[line] = n
			}
			out[i] = n
		}
		return out
	}
	m := &matcher{a: number(a), b: number(b), match: make([]int32, len(a))}
	m.seen = make([]occurrences, len(numbers))
	for i := range m.match {
		m.match[i] = -1
	}
	return m
}

// gap compares one region: first the equal lines at its ends, then the parts between
// lines that occur once in each text (anchors).
func (m *matcher) gap(r region, depth int) {
	r = m.trim(r)
	if r.aStart == r.aEnd || r.bStart == r.bEnd {
		return
	}
	var anchors [][2]int32
	if depth < maxDepth {
		anchors = m.anchors(r)
	}
	if len(anchors) == 0 {
		m.table(r)
		return
	}
	i, j := r.aStart, r.bStart
	for _, p := range anchors {
		m.match[p[0]] = p[1]
		m.gap(region{i, int(p[0]), j, int(p[1])}, depth+1)
		i, j = int(p[0])+1, int(p[1])+1
	}
	m.gap(region{i, r.aEnd, j, r.bEnd}, depth+1)
}

// trim matches the equal lines at both ends of r and returns the rest.
func (m *matcher) trim(r region) region {
	for r.aStart < r.aEnd && r.bStart < r.bEnd && m.a[r.aStart] == m.b[r.bStart] {
		m.match[r.aStart] = int32(r.bStart)
		r.aStart++
		r.bStart++
	}
	for r.aStart < r.aEnd && r.bStart < r.bEnd && m.a[r.aEnd-1] == m.b[r.bEnd-1] {
		r.aEnd--
		r.bEnd--
		m.match[r.aEnd] = int32(r.bEnd)
	}
	return r
}

// anchors returns the longest increasing sequence of pairs of lines that occur exactly
// once on each side of r.
func (m *matcher) anchors(r region) [][2]int32 {
	a, b := m.a[r.aStart:r.aEnd], m.b[r.bStart:r.bEnd]
	for _, n := range a {
		m.seen[n].inA++
	}
	for j, n := range b {
		m.seen[n].inB++
		m.seen[n].at = int32(r.bStart + j)
	}
	var pairs [][2]int32
	for i, n := range a {
		if s := m.seen[n]; s.inA == 1 && s.inB == 1 {
			pairs = append(pairs, [2]int32{int32(r.aStart + i), s.at})
		}
	}
	for _, n := range a {
		m.seen[n] = occurrences{}
	}
	for _, n := range b {
		m.seen[n] = occurrences{}
	}
	return rising(pairs)
}

// rising returns a longest subsequence of pairs with increasing second members; the first
// members are increasing already.
func rising(pairs [][2]int32) [][2]int32 {
	var tails []int // tails[k] is the pair that ends the best sequence of k+1 pairs
	before := make([]int, len(pairs))
	for i, p := range pairs {
		k := sort.Search(len(tails), func(k int) bool { return pairs[tails[k]][1] >= p[1] })
		before[i] = -1
		if k > 0 {
			before[i] = tails[k-1]
		}
		if k == len(tails) {
			tails = append(tails, i)
		} else {
			tails[k] = i
		}
	}
	if len(tails) == 0 {
		return nil
	}
	out := make([][2]int32, 0, len(tails))
	for i := tails[len(tails)-1]; i >= 0; i = before[i] {
		out = append(out, pairs[i])
	}
	slices.Reverse(out)
	return out
}

// table matches a longest common subsequence of r if the table for it is small enough.
func (m *matcher) table(r region) {
	a, b := m.a[r.aStart:r.aEnd], m.b[r.bStart:r.bEnd]
	need := (len(a) + 1) * (len(b) + 1)
	if need > maxCells {
		return
	}
	if need > len(m.cells) {
		m.cells = make([]uint16, min(2*need, maxCells)) // twice, so that growing regions cost little
	}
	for _, p := range common(a, b, m.cells) {
		m.match[r.aStart+p[0]] = int32(r.bStart + p[1])
	}
}

// common returns the index pairs of a longest common subsequence. cells is scratch space
// of at least (len(a)+1)*(len(b)+1) entries.
func common[T comparable](a, b []T, cells []uint16) [][2]int {
	w := len(b) + 1
	clear(cells[len(a)*w : len(a)*w+w])
	for i := len(a) - 1; i >= 0; i-- {
		cells[i*w+len(b)] = 0
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				cells[i*w+j] = cells[(i+1)*w+j+1] + 1
			} else {
				cells[i*w+j] = max(cells[(i+1)*w+j], cells[i*w+j+1])
			}
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			out = append(out, [2]int{i, j})
			i++
			j++
		case cells[(i+1)*w+j] >= cells[i*w+j+1]:
			i++
		default:
			j++
		}
	}
	return out
}
