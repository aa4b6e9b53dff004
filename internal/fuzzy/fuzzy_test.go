package fuzzy

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The scores are those of fzf 0.60 with --scheme=path: query, path, score, and the
// beginning of the match.
func TestScoresOfFzf(t *testing.T) {
	data, err := os.ReadFile("testdata/fzf.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var m matrix
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for _, l := range lines {
		f := strings.Split(l, "\t")
		begin, err := strconv.Atoi(f[3])
		if err != nil {
			t.Fatal(err)
		}
		part := begin - strings.LastIndexByte(f[1], '/') - 1
		if part < 0 {
			part = 1 << 16
		}
		got := m.match(f[0], f[1])
		if fmt.Sprint(got.score) != f[2] || got.part != part {
			t.Errorf("%s: score %d, begins at %d of its part", l, got.score, got.part)
		}
	}
	if len(lines) < 100 {
		t.Errorf("%d lines", len(lines))
	}
}

func TestRanking(t *testing.T) {
	files := []string{
		"vendor/some/long/application/port/parser.go", "internal/app/app.go", "docs/happy.md", "app.go", "internal/repl/input/input.go",
		"internal/repl/screen/screen_test.go", "internal/repl/screen/screen.go", "README.md", "cmd/agent/main.go", "Src/FooBar.go",
		"internal/", "internal/repl/", "internal/repl/screen/",
	}
	tests := []struct{ query, best string }{
		{"app", "app.go"},
		{"appapp", "internal/app/app.go"},
		{"screen", "internal/repl/screen/"},
		{"screengo", "internal/repl/screen/screen.go"},
		{"screentest", "internal/repl/screen/screen_test.go"},
		{"repscr", "internal/repl/screen/"},
		{"readme", "README.md"},
		{"main", "cmd/agent/main.go"},
		{"fb", "Src/FooBar.go"},
		{"INPUT", "internal/repl/input/input.go"},
		{"internal", "internal/"},
	}
	for _, tt := range tests {
		var s Search
		got := s.Find(NewIndex(files), tt.query, 5)
		if len(got) == 0 || got[0] != tt.best {
			t.Errorf("%s: %q, want %s first", tt.query, got, tt.best)
		}
	}
}

func TestHas(t *testing.T) {
	for query, want := range map[string]bool{"": true, "cmp": true, "CMP": true, "tc": false} {
		if got := Has(query, "/Compact"); got != want {
			t.Errorf("%q: %v", query, got)
		}
	}
}

func TestNothing(t *testing.T) {
	var s Search
	if got := s.Find(nil, "a", 5); got != nil {
		t.Errorf("in no index: %q", got)
	}
	x := NewIndex([]string{"b", "a", "c"})
	if d := cmp.Diff([]string{"b", "a"}, s.Find(x, "", 2)); d != "" {
		t.Error(d)
	}
	if got := s.Find(x, "zz", 5); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// exhaustive ranks all paths.
func exhaustive(paths []string, query string, n int) []string {
	var all []match
	var m matrix
	for _, p := range paths {
		if seen(query, p) >= 0 {
			all = append(all, m.match(query, p))
		}
	}
	slices.SortFunc(all, match.compare)
	out := []string{}
	for _, a := range all[:min(n, len(all))] {
		out = append(out, a.path)
	}
	return out
}

// A query typed letter by letter finds the same as one typed at once, and as ranking all
// paths would.
func TestNarrowing(t *testing.T) {
	name := rapid.StringMatching(`[a-cA-C/_. 1é]{1,12}`)
	rapid.Check(t, func(t *rapid.T) {
		files := rapid.SliceOfNDistinct(name, 1, 80, rapid.ID).Draw(t, "files")
		query := rapid.StringMatching(`[a-cB_/é1]{1,5}`).Draw(t, "query")
		var typed Search
		x := NewIndex(files)
		for i := range query {
			typed.Find(x, query[:i], 20)
		}
		got := typed.Find(x, query, 20)
		if diff := cmp.Diff(exhaustive(files, lowerASCII(query), 20), got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// walk is a partial match of a query.
type walk struct {
	score, first int32
	row          int // matched bytes without a gap
	gap          bool
}

// best tries all places of the rest of a query, from its qth letter and byte i on. The
// matrix approximates it: like fzf's, it keeps only one of two ways that are equal so
// far.
func (w walk) best(query, path string, q, i int) int32 {
	if q == len(query) {
		return w.score
	}
	if len(path)-i < len(query)-q {
		return math.MinInt32
	}
	past := walk{score: w.score + scoreGapStart, gap: true}
	if w.gap {
		past.score = w.score + scoreGapExtend
	}
	if q == 0 {
		past = w // no cost before the first letter
	}
	most := past.best(query, path, q, i+1)
	if lower(path[i]) != query[q] {
		return most
	}
	b := bonusAt(path, i)
	hit := walk{first: b, row: w.row + 1}
	if w.row > 0 {
		if b < bonusBoundary || b <= w.first {
			hit.first = w.first
		}
		b = max(b, hit.first, bonusRow)
	}
	if q == 0 {
		b *= bonusFirstTimes
	}
	hit.score = w.score + scoreMatch + b
	return max(most, hit.best(query, path, q+1, i+1))
}

// The guess is the score of some place, so never above the best.
func TestGuessesAreNoMoreThanTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.StringMatching(`[a-cA-C/_. 1]{1,30}`).Draw(t, "path")
		query := rapid.StringMatching(`[abc_/1]{1,5}`).Draw(t, "query")
		n, ok := guess(query, path)
		if ok != (seen(query, path) >= 0) {
			t.Fatalf("guessed %v", ok)
		}
		if !ok {
			return
		}
		if best := (walk{}).best(query, path, 0, 0); n > best || len(query) == 1 && n != best {
			t.Fatalf("guessed %d, the best is %d", n, best)
		}
	})
}

// hundredThousand returns paths as in a large repository.
func hundredThousand() []string {
	dirs := []string{"src", "internal", "pkg", "test", "docs", "vendor", "cmd", "lib"}
	words := []string{"server", "client", "parser", "token", "buffer", "screen", "input", "journal", "workspace", "permission", "editor", "model"}
	files := make([]string, 100_000)
	for i := range files {
		files[i] = fmt.Sprintf("%s/%s%d/%s/%s_%d.go", dirs[i%len(dirs)], words[i/7%len(words)], i%97, words[i/11%len(words)], words[i/3%len(words)], i%1009)
	}
	return files
}

// If far more match than are ranked, the best are still found.
func TestTheBestOfManyAreFound(t *testing.T) {
	files := hundredThousand()
	x := NewIndex(files)
	for _, query := range []string{"p", "se", "in", "scr", "token", "srcse", "wsj"} {
		var s Search
		got, want := s.Find(x, query, 10), exhaustive(files, query, 10)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", query, d)
		}
	}
}

// Each key costs one look at each path, or at the matches of the shorter query, and the
// exact ranking of as many as fit in a frame.
func TestTheWorkOfAKeyIsBounded(t *testing.T) {
	x := NewIndex(hundredThousand())
	var s Search
	const query = "srcserver"
	more := false // whether the bound was needed
	for i := range query {
		best := s.collect(x, query[:i+1])
		if cells := len(best) * (i + 1); cells > ranked {
			t.Errorf("%q: %d letters of paths are ranked", query[:i+1], cells)
		}
		more = more || len(s.hits) > len(best)
	}
	if !more {
		t.Error("no query found more than is ranked")
	}
	s.collect(x, "se")
	s.hits = s.hits[:10] // as if the others had not matched
	if got := len(s.Find(x, "ser", 50)); got == 0 || got > 10 {
		t.Errorf("of ten paths, a longer query finds %d", got)
	}
	if got := len(s.Find(x, "cl", 50)); got != 50 {
		t.Errorf("another query finds %d", got)
	}
}

// BenchmarkFind measures a query typed at once, in 100,000 paths.
func BenchmarkFind(b *testing.B) {
	x := NewIndex(hundredThousand())
	for _, query := range []string{"p", "se", "serv", "srcserver", "zzzz"} {
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				var s Search
				s.Find(x, query, 50)
			}
		})
	}
}

// BenchmarkTyping measures the slowest key of a query typed letter by letter.
func BenchmarkTyping(b *testing.B) {
	x := NewIndex(hundredThousand())
	for b.Loop() {
		var s Search
		for i := range "srcserver" {
			s.Find(x, "srcserver"[:i+1], 50)
		}
	}
}
