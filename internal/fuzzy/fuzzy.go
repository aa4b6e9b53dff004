// Package fuzzy finds paths by some of their letters, ranked as fzf does with its scheme
// for paths. It guarantees that the order does not depend on how a query was typed, that
// 100,000 paths are searched within a frame, and that adding a letter to a query searches
// only the matches of the shorter one.
//
// The ranking is that of fzf's second algorithm: each letter scores, more at the
// beginnings of words and in a row, and gaps cost. Ties go to the match nearest to the
// beginning of the last part of the path, then to the shortest path. ASCII letters match
// in either case; others match as written.
package fuzzy

import (
	"slices"
	"strings"
)

// ranked is the number of matches that are ranked exactly, divided by the length of the
// query so that the work is about the same for each. If more match, the score of their
// first place selects them.
const ranked = 6_000

// Index is an immutable list of searchable paths.
type Index struct {
	paths   []string
	letters []uint64 // a set for each path
}

// NewIndex returns an index of paths, in the order of the answer to an empty query. It
// takes ownership of the slice.
func NewIndex(paths []string) *Index {
	x := &Index{paths: paths, letters: make([]uint64, len(paths))}
	for i, p := range paths {
		x.letters[i] = lettersOf(p)
	}
	return x
}

// Len returns the number of paths.
func (x *Index) Len() int {
	if x == nil {
		return 0
	}
	return len(x.paths)
}

// lettersOf returns the set of letters in s. Several letters may share a bit.
func lettersOf(s string) uint64 {
	var set uint64
	for i := range len(s) {
		set |= 1 << (lower(s[i]) & 63)
	}
	return set
}

// Search answers query after query from an index. It is not safe for concurrent use.
type Search struct {
	index *Index
	query string
	hits  []int32 // indexes of all matches
	found []candidate
}

// candidate is a match that may be among the best.
type candidate struct {
	at    int32
	score int32
	size  int32 // of the path
}

// Find returns at most n paths that contain the letters of query in order, best first.
func (s *Search) Find(x *Index, query string, n int) []string {
	if x.Len() == 0 {
		return nil
	}
	if query == "" {
		return x.paths[:min(len(x.paths), n)]
	}
	query = lowerASCII(query)
	best := s.collect(x, query)
	matches := make([]match, len(best))
	var m matrix
	for i, c := range best {
		matches[i] = m.match(query, x.paths[c.at])
	}
	slices.SortFunc(matches, match.compare)
	out := make([]string, min(n, len(matches)))
	for i := range out {
		out[i] = matches[i].path
	}
	return out
}

// collect finds all matches and returns the most promising ones.
func (s *Search) collect(x *Index, query string) []candidate {
	narrowed := s.index == x && s.query != "" && strings.HasPrefix(query, s.query)
	old, found := s.hits, s.found[:0]
	s.index, s.query, s.hits = x, query, nil
	letters := lettersOf(query)
	try := func(i int32) {
		if x.letters[i]&letters != letters {
			return
		}
		path := x.paths[i]
		if n, ok := guess(query, path); ok {
			found = append(found, candidate{at: i, score: n, size: int32(len(path))})
		}
	}
	if narrowed {
		for _, i := range old {
			try(i)
		}
	} else {
		for i := range x.paths {
			try(int32(i))
		}
	}
	s.hits = make([]int32, len(found))
	for i, c := range found {
		s.hits[i] = c.at
	}
	s.found = found
	return choose(found, max(1, min(ranked/len(query), ranked/3)))
}

// choose returns the best n candidates, unsorted: those with the highest scores and,
// among the last score, the shortest paths.
func choose(all []candidate, n int) []candidate {
	if len(all) <= n {
		return all
	}
	score := func(c candidate) int { return maxRank - int(min(max(0, c.score), maxRank)) }
	size := func(c candidate) int { return int(min(c.size, maxRank)) }
	byScore, n := split(all, n, score)
	best, rest := byScore[0], byScore[1]
	bySize, n := split(rest, n, size)
	return slices.Concat(best, bySize[0], bySize[1][:n])
}

// maxRank bounds the ranks by which split distinguishes candidates.
const maxRank = 4095

// split returns the candidates of the lowest ranks, as many ranks as fit in n, those of
// the next rank, and the room left for them.
func split(all []candidate, n int, rank func(candidate) int) (parts [2][]candidate, room int) {
	var count [maxRank + 1]int
	for _, c := range all {
		count[rank(c)]++
	}
	last := 0
	for ; last < maxRank && count[last] <= n; last++ {
		n -= count[last]
	}
	for _, c := range all {
		switch r := rank(c); {
		case r < last:
			parts[0] = append(parts[0], c)
		case r == last:
			parts[1] = append(parts[1], c)
		}
	}
	return parts, min(n, len(parts[1]))
}

// Has reports whether text contains the letters of query in order.
func Has(query, text string) bool { return query == "" || seen(lowerASCII(query), text) >= 0 }

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}

// folded maps bytes to lower case; bytes beyond ASCII to themselves.
var folded = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
	}
	for c := 'A'; c <= 'Z'; c++ {
		t[c] = byte(c - 'A' + 'a')
	}
	return t
}()

func lower(c byte) byte { return folded[c] }
