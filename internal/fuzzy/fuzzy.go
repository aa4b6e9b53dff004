// Package fuzzy finds paths by some of their letters, ranked as fzf does with its
// scheme for paths. It guarantees that the order does not depend on how a query was
// typed, that 100,000 paths are searched within a frame, and that a query to which a
// letter was added costs no more than what the shorter one found.
//
// The ranking is that of fzf's second algorithm: each letter scores, letters at the
// beginnings of words and those in a row score more, gaps cost; then the nearest to
// the beginning of the last part of the path wins, then the shortest path. Letters
// match in either case; beyond ASCII they match as they are written.
package fuzzy

import (
	"slices"
	"strings"
)

// ranked is how many matches are ranked exactly, divided by the length of the query,
// so that the work is much the same for each. Where more match, those are chosen by the score of
// the first place that matches.
const ranked = 6_000

// Index is paths that can be searched. It does not change.
type Index struct {
	paths   []string
	letters []uint64 // which letters are in each path
}

// NewIndex returns an index of paths, whose order is that of the answer to an empty
// query. It takes the slice over.
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

// lettersOf returns a set of the letters of s; several may share a bit.
func lettersOf(s string) uint64 {
	var set uint64
	for i := range len(s) {
		set |= 1 << (lower(s[i]) & 63)
	}
	return set
}

// Search searches an index, query after query. It belongs to one goroutine.
type Search struct {
	index *Index
	query string
	hits  []int32 // all that matched, as indexes
	found []candidate
}

// candidate is a match that may be among the best.
type candidate struct {
	at    int32
	score int32
	size  int32 // of the path
}

// Find returns at most n paths that have the letters of query in order, the best
// first.
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

// collect finds all that match, and returns the most promising ones.
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

// choose returns the best n candidates: those of the highest scores and, of those
// with the last score among them, the shortest paths. It does not sort them, as
// nobody waits for an order that is made anew.
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

// maxRank bounds what candidates are told apart by.
const maxRank = 4095

// split returns those of the lowest ranks, which are no more than n together, those
// of the next rank, and how many of them there is room for.
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

// Has says whether text has the letters of query in order.
func Has(query, text string) bool { return query == "" || seen(lowerASCII(query), text) >= 0 }

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}

// folded is each byte in lower case; beyond ASCII, itself.
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
