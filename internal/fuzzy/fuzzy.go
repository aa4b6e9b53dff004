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
	"cmp"
	"slices"
	"strings"
)

// ranked is how many matches are ranked exactly, divided by the length of the query,
// so that the work is much the same for each. Where more match, those are chosen by the score of
// the first place that matches.
const ranked = 12_000

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
	old := s.hits
	s.index, s.query, s.hits = x, query, nil
	letters := lettersOf(query)
	best := top{limit: max(1, min(ranked/len(query), ranked/3))}
	try := func(i int32) {
		if x.letters[i]&letters != letters {
			return
		}
		path := x.paths[i]
		if n, ok := guess(query, path); ok {
			s.hits = append(s.hits, i)
			best.add(candidate{at: i, score: n, size: int32(len(path))})
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
	return best.all
}

// compare orders candidates, the better first.
func (c candidate) compare(d candidate) int {
	return cmp.Or(cmp.Compare(d.score, c.score), cmp.Compare(c.size, d.size), cmp.Compare(c.at, d.at))
}

// top keeps the best candidates: a heap with the worst of them on top, once there
// are too many.
type top struct {
	limit int
	all   []candidate
}

func (t *top) add(c candidate) {
	switch {
	case len(t.all) < t.limit:
		if t.all = append(t.all, c); len(t.all) == t.limit {
			slices.SortFunc(t.all, func(a, b candidate) int { return b.compare(a) })
		}
	case c.compare(t.all[0]) < 0:
		t.all[0] = c
		t.sink()
	}
}

// sink moves the top down to its place.
func (t *top) sink() {
	for i := 0; ; {
		worst := i
		for _, child := range []int{2*i + 1, 2*i + 2} {
			if child < len(t.all) && t.all[child].compare(t.all[worst]) > 0 {
				worst = child
			}
		}
		if worst == i {
			return
		}
		t.all[i], t.all[worst] = t.all[worst], t.all[i]
		i = worst
	}
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
