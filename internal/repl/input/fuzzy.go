package input

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// search finds paths by some of their letters. A query that another letter was added
// to is looked for among what the last one has found.
type search struct {
	query string
	files []string // what the query was looked for in
	hits  []int32  // all that matched, as indexes of files
}

type scored struct {
	path  string
	score int
}

// find returns the best matches, at most maxMatches, the best first. Without a query
// they are the first files.
func (s *search) find(files []string, query string) []string {
	if query == "" {
		return files[:min(len(files), maxMatches)]
	}
	query = lowerASCII(query)
	narrowed := s.query != "" && strings.HasPrefix(query, s.query) && sameSlice(s.files, files)
	old := s.hits
	s.query, s.files, s.hits = query, files, nil
	var best []scored
	try := func(i int32) {
		if n, ok := score(query, files[i]); ok {
			s.hits = append(s.hits, i)
			best = insert(best, scored{files[i], n})
		}
	}
	if narrowed {
		for _, i := range old {
			try(i)
		}
	} else {
		for i := range files {
			try(int32(i))
		}
	}
	paths := make([]string, len(best))
	for i, b := range best {
		paths[i] = b.path
	}
	return paths
}

func sameSlice(a, b []string) bool {
	return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0]
}

// insert keeps the best matches in order: by score, then short ones first.
func insert(best []scored, s scored) []scored {
	if len(best) == maxMatches && better(best[maxMatches-1], s) <= 0 {
		return best
	}
	i, _ := slices.BinarySearchFunc(best, s, better)
	best = slices.Insert(best, i, s)
	return best[:min(len(best), maxMatches)]
}

func better(a, b scored) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(a.path), len(b.path)), strings.Compare(a.path, b.path))
}

// score says whether path has the letters of query, which is in lower case, in
// order, and how well: letters in a row, at the beginnings of words and in the last
// part of the path count for more, gaps for less.
func score(query, path string) (int, bool) {
	end := matchEnd(query, path)
	if end < 0 {
		return 0, false
	}
	base := strings.LastIndexByte(path, '/') + 1
	total, q, run := 0, len(query)-1, 0
	for i := end; q >= 0; i-- { // backwards, for the closest match that ends there
		if lower(path[i]) != query[q] {
			total--
			run = 0
			continue
		}
		run++
		total += 8 + 4*min(run, 4)
		if i == 0 || startsWord(path[i-1], path[i]) {
			total += 8
		}
		if i >= base {
			total += 4
		}
		q--
	}
	return total - len(path)/16, true
}

// matchEnd returns the index in path at which all of query has been seen, -1 if it
// is not there. The last part of the path is tried first.
func matchEnd(query, path string) int {
	if base := strings.LastIndexByte(path, '/') + 1; base > 0 {
		if end := seen(query, path[base:]); end >= 0 {
			return base + end
		}
	}
	return seen(query, path)
}

func seen(query, s string) int {
	q := 0
	for i := 0; i < len(s); i++ {
		if lower(s[i]) == query[q] {
			if q++; q == len(query) {
				return i
			}
		}
	}
	return -1
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}

// lower folds ASCII only: other letters match as they are written.
func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func startsWord(before, c byte) bool {
	switch {
	case before == '/' || before == '_' || before == '-' || before == '.' || before == ' ':
		return true
	case before >= utf8.RuneSelf:
		return false
	}
	return c >= 'A' && c <= 'Z' && !(before >= 'A' && before <= 'Z')
}
