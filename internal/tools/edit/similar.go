package edit

import (
	"slices"
	"strings"
	"unicode"
)

// Bounds of the search for similar lines, which must not cost more than the edit.
const (
	nearLines   = 30_000 // lines searched
	nearWidth   = 400    // bytes of a line looked at
	nearWanted  = 400    // lines looked for
	nearPlaces  = 2      // places shown
	nearMinimum = 0.5    // likeness of two lines
	nearTotal   = 0.2    // likeness of a place
	nearSecond  = 0.85   // likeness of a second place, relative to the first
	nearDrift   = 12     // lines that a place may have more or less than were sent
	nearTried   = 6      // places compared line by line
	wordPlaces  = 8      // lines sent that may share a word
)

// similarity searches the lines of a file for the place most similar to the lines sent.
type similarity struct {
	have []line
	want []string

	sets    []bigramSet // of want
	weights []float64   // of want
	total   float64     // of weights
}

// place is a part of the file, lines from to to, aligned with the lines sent. pairs[j] is
// the index of the file's line that corresponds to line j sent, or -1.
type place struct {
	from, to int
	pairs    []int
	score    float64 // from 0 to 1
}

// places returns the most similar places, best first: one, or more if they are about as
// similar.
func (s *similarity) places() []place {
	s.have = s.have[:min(len(s.have), nearLines)]
	s.want = s.want[:min(len(s.want), nearWanted)]
	s.measure()
	if s.total < 1 {
		return nil
	}
	var found []place
	for _, offset := range s.offsets() {
		if p, ok := s.align(offset); ok {
			found = append(found, p)
		}
	}
	slices.SortStableFunc(found, func(a, b place) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	var best []place
	for _, p := range found {
		apart := !slices.ContainsFunc(best, func(b place) bool { return p.from < b.to && b.from < p.to })
		if len(best) < nearPlaces && apart && (len(best) == 0 || p.score >= nearSecond*best[0].score) {
			best = append(best, p)
		}
	}
	return best
}

// measure weighs each line sent by its length. A blank line weighs next to nothing.
func (s *similarity) measure() {
	for _, w := range s.want {
		weight := 0.1 + float64(min(len(strings.TrimSpace(w)), nearWidth))
		s.weights = append(s.weights, weight)
		s.total += weight
		s.sets = append(s.sets, bigrams(w))
	}
}

// offsets returns the most promising differences between the index of a line of the file
// and of the corresponding line sent. Each word that they share is a vote, and so is
// likeness to one of the two longest lines sent.
func (s *similarity) offsets() []int {
	n := len(s.want)
	votes := make([]float64, len(s.have)+n) // votes[n+offset]
	posts := s.words()
	long := s.longest(2)
	for i, l := range s.have {
		for word := range words(l.text) {
			for _, j := range posts[word] {
				votes[n+i-j] += float64(min(len(word), 20)) / float64(len(posts[word]))
			}
		}
		for _, j := range long {
			if like := s.sets[j].likeness(l.text); like >= nearMinimum {
				votes[n+i-j] += like * s.weights[j]
			}
		}
	}
	return peaks(votes, s.reach(), n)
}

// peaks returns the indexes of the largest sums of votes within reach, less zero.
func peaks(votes []float64, reach, zero int) []int {
	sums := make([]float64, len(votes))
	for i := range votes {
		for k := max(0, i-reach); k <= min(len(votes)-1, i+reach); k++ {
			sums[i] += votes[k]
		}
		sums[i] += votes[i] / 2 // the middle of a group
	}
	var best []int
	for range nearTried {
		top := 0
		for i, v := range sums {
			if v > sums[top] {
				top = i
			}
		}
		if sums[top] == 0 {
			break
		}
		best = append(best, top-zero)
		clear(sums[max(0, top-reach):min(len(sums), top+reach+1)])
	}
	return best
}

// words returns the lines sent that hold each word. A word of too many lines does not
// help.
func (s *similarity) words() map[string][]int {
	posts := map[string][]int{}
	for j, w := range s.want {
		for word := range words(w) {
			posts[word] = append(posts[word], j)
		}
	}
	for word, lines := range posts {
		if len(lines) > wordPlaces {
			delete(posts, word)
		}
	}
	return posts
}

// words returns the words of a line in lower case.
func words(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.FieldsFunc(s[:min(len(s), nearWidth)], func(r rune) bool { return !isWord(r) }) {
		set[strings.ToLower(w)] = true
	}
	return set
}

// longest returns the indexes of the n longest lines sent that are not blank.
func (s *similarity) longest(n int) []int {
	var at []int
	for j := range s.want {
		if s.weights[j] > 1 {
			at = append(at, j)
		}
	}
	slices.SortStableFunc(at, func(a, b int) int { return int(s.weights[b]) - int(s.weights[a]) })
	return at[:min(len(at), n)]
}

// likeness returns how similar line j sent is to line i of the file, from 0 to 1.
func (s *similarity) likeness(j, i int) float64 {
	have := s.have[i].text
	switch {
	case s.want[j] == have:
		return 1
	case strings.TrimSpace(s.want[j]) == strings.TrimSpace(have):
		return 0.99
	}
	if like := s.sets[j].likeness(have); like >= nearMinimum {
		return 0.95 * like
	}
	return 0
}

// align finds the best correspondence of the lines sent with lines of the file near
// offset: the one with the largest sum of likenesses, in order, without crossings.
func (s *similarity) align(offset int) (place, bool) {
	n, band := len(s.want), 2*nearDrift+1
	sum := make([][]float64, n+1) // sum[j][k] is of the lines from j on; the file's line is j+offset-nearDrift+k
	sum[n] = make([]float64, band+1)
	for j := n - 1; j >= 0; j-- {
		sum[j] = make([]float64, band+1)
		for k := band - 1; k >= 0; k-- {
			best := 0.0
			if j > 0 { // the place begins near offset
				best = sum[j][k+1]
			}
			if k > 0 {
				best = max(best, sum[j+1][k-1])
			}
			if i := j + offset - nearDrift + k; i >= 0 && i < len(s.have) {
				best = max(best, sum[j+1][k]+s.gain(j, i))
			}
			sum[j][k] = best
		}
	}
	start := nearDrift
	for k := nearDrift - s.reach(); k <= nearDrift+s.reach(); k++ {
		if sum[0][k] > sum[0][start] {
			start = k
		}
	}
	p := place{pairs: make([]int, n), score: sum[0][start] / s.total}
	s.trace(&p, sum, offset, start)
	first, last := -1, -1
	for j, i := range p.pairs {
		if i >= 0 && first < 0 {
			first = j
		}
		if i >= 0 {
			last = j
		}
	}
	if first < 0 || p.score < nearTotal {
		return place{}, false
	}
	p.from = max(0, p.pairs[first]-first)
	p.to = min(len(s.have), p.pairs[last]+n-last)
	return p, true
}

// reach is how far from an offset its place may begin, in lines.
func (s *similarity) reach() int { return min(2, len(s.want)-1) }

func (s *similarity) gain(j, i int) float64 { return s.weights[j] * s.likeness(j, i) }

// trace fills in p's pairs from the sums of align, which begin at sum[0][k].
func (s *similarity) trace(p *place, sum [][]float64, offset, k int) {
	for j := range p.pairs {
		p.pairs[j] = -1
	}
	j := 0
	for j < len(p.pairs) && k < len(sum[0])-1 {
		i := j + offset - nearDrift + k
		inFile := i >= 0 && i < len(s.have)
		switch here := sum[j][k]; {
		case here == 0:
			return
		case inFile && s.gain(j, i) > 0 && here == sum[j+1][k]+s.gain(j, i):
			p.pairs[j] = i
			j++
		case j > 0 && here == sum[j][k+1]:
			k++
		default:
			j++
			k--
		}
	}
}

// bigramSet counts the pairs of adjacent characters of a line, ignoring blanks and case.
type bigramSet struct {
	count map[[2]rune]int
	total int
}

func bigrams(s string) bigramSet {
	set := bigramSet{count: map[[2]rune]int{}}
	eachBigram(s, func(p [2]rune) {
		set.count[p]++
		set.total++
	})
	return set
}

func eachBigram(s string, f func([2]rune)) {
	prev := rune(' ')
	for _, r := range s[:min(len(s), nearWidth)] {
		if unicode.IsSpace(r) {
			continue
		}
		r = unicode.ToLower(r)
		f([2]rune{prev, r})
		prev = r
	}
}

// likeness returns Dice's coefficient of the two sets, from 0 to 1.
func (b bigramSet) likeness(s string) float64 {
	seen := make(map[[2]rune]int, 16)
	shared, total := 0, 0
	eachBigram(s, func(p [2]rune) {
		total++
		if seen[p] < b.count[p] {
			seen[p]++
			shared++
		}
	})
	if total == 0 {
		return 0
	}
	return 2 * float64(shared) / float64(b.total+total)
}
