package edit

import (
	"cmp"
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
	nearSecond  = 0.72   // likeness of a second place, relative to the first
	nearDrift   = 12     // lines that a place may have more or less than were sent, at least
	farDrift    = 100    // lines that it may have more or less if few were sent
	driftCells  = 4000   // comparisons of lines for a place, if no more lines than nearDrift demand more
	skipped     = 1.0    // price of a line of the file between two that correspond, in bytes of weight
	nearTried   = 6      // places compared line by line
	nearOften   = 4      // from this number of times on, a line of the file tells little about a place
	wordPlaces  = 8      // lines sent that may share a word
)

// similarity searches the lines of a file for the place most similar to the lines sent.
type similarity struct {
	have []line
	want []string

	sets    []bigramSet // of want
	weights []float64   // of want
	total   float64     // of weights
	skips   []float64   // price of a line of the file that is passed over before each of want
	found   []place     // the most similar places, best first: one, or more if they are about as similar
}

// place is a part of the file, lines from to to, aligned with the lines sent. pairs[j] is
// the index of the file's line that corresponds to line j sent, or -1.
type place struct {
	from, to int
	pairs    []int
	score    float64 // from 0 to 1
}

// newSimilarity finds the places of text that are most similar to sent.
func newSimilarity(text, sent string) *similarity {
	s := &similarity{have: split(text), want: textLines(sent)}
	s.have = s.have[:min(len(s.have), nearLines)]
	s.want = s.want[:min(len(s.want), nearWanted)]
	s.measure()
	if s.searched() {
		s.search()
	}
	return s
}

// searched reports whether there is anything but blanks to search for.
func (s *similarity) searched() bool {
	return slices.ContainsFunc(s.want, func(w string) bool { return strings.TrimSpace(w) != "" })
}

// best is the score of the most similar place, or zero.
func (s *similarity) best() float64 {
	if len(s.found) == 0 {
		return 0
	}
	return s.found[0].score
}

// search finds the places.
func (s *similarity) search() {
	var sent strings.Builder
	for _, w := range s.want {
		sent.WriteString(cutWide(w))
	}
	all := bigrams(sent.String())
	var found []place
	for _, offset := range s.offsets() {
		if p := s.align(offset); s.settle(&p, all) {
			found = append(found, p)
		}
	}
	slices.SortStableFunc(found, func(a, b place) int { return cmp.Compare(b.score, a.score) })
	for _, p := range found {
		apart := !slices.ContainsFunc(s.found, func(b place) bool { return p.from < b.to && b.from < p.to })
		if len(s.found) < nearPlaces && apart && (len(s.found) == 0 || p.score >= nearSecond*s.best()) {
			s.found = append(s.found, p)
		}
	}
}

// measure weighs each line sent by its length, and less if the file has it often. A blank line
// weighs next to nothing.
func (s *similarity) measure() {
	often := map[string]float64{}
	for _, l := range s.have {
		often[strings.TrimSpace(l.text)]++
	}
	for j, w := range s.want {
		key := strings.TrimSpace(w)
		weight := 0.1 + float64(min(len(key), nearWidth))/max(1, min(often[key], nearOften))
		s.weights = append(s.weights, weight)
		s.total += weight
		s.sets = append(s.sets, bigrams(cutWide(w)))
		price := skipped
		if j > 0 && isElision(s.want[j-1]) {
			price = 0 // the dots are in place of such lines
		}
		s.skips = append(s.skips, price)
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
			if like := s.sets[j].likeness(cutWide(l.text)); like >= nearMinimum {
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
	for _, w := range strings.FieldsFunc(cutWide(s), func(r rune) bool { return !isWord(r) }) {
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
	if like := s.sets[j].likeness(cutWide(have)); like >= nearMinimum {
		return 0.95 * like * like // a line as sent counts more than several that are alike
	}
	return 0
}

// align finds the best correspondence of the lines sent with lines of the file near
// offset: the one with the largest sum of likenesses, in order, without crossings.
func (s *similarity) align(offset int) place {
	n, drift := len(s.want), s.drift()
	band := 2*drift + 1
	sum := make([][]float64, n+1) // sum[j][k] is of the lines from j on; the file's line is j+offset-drift+k
	sum[n] = make([]float64, band+1)
	for j := n - 1; j >= 0; j-- {
		sum[j] = make([]float64, band+1)
		for k := band - 1; k >= 0; k-- {
			best := 0.0
			if j > 0 { // the place begins near offset
				best = max(0, sum[j][k+1]-s.skips[j])
			}
			if k > 0 {
				best = max(best, sum[j+1][k-1])
			}
			if i := j + offset - drift + k; i >= 0 && i < len(s.have) {
				best = max(best, sum[j+1][k]+s.gain(j, i))
			}
			sum[j][k] = best
		}
	}
	start, reach := drift, s.reach()
	if n > 1 {
		reach = nearDrift
	}
	for k := drift - reach; k <= drift+reach; k++ {
		if sum[0][k] > sum[0][start] {
			start = k
		}
	}
	p := place{pairs: make([]int, n), score: sum[0][start] / s.total}
	s.trace(&p, sum, offset, start)
	first := slices.IndexFunc(p.pairs, func(i int) bool { return i >= 0 })
	if first < 0 {
		p.from, p.to = max(0, min(offset, len(s.have))), max(0, min(offset+n, len(s.have)))
		return p
	}
	last := n - 1
	for p.pairs[last] < 0 {
		last--
	}
	p.from = max(0, p.pairs[first]-first)
	p.to = min(len(s.have), p.pairs[last]+n-last)
	return p
}

// toBlockEnd extends p to the end of the block that its first line begins, if the lines sent hold
// that end, or dots in its place.
func (s *similarity) toBlockEnd(p *place) {
	first, last := s.want[0], s.want[len(s.want)-1]
	closes := len(s.want) > 2 && indentOf(first) == indentOf(last) && last != indentOf(last) && !startsWord(strings.TrimSpace(last))
	if i := p.pairs[0]; i >= 0 && (closes || isElision(last)) {
		limit := min(len(s.have), i+farDrift)
		end := blockEnd(s.have, i, limit)
		for end > p.to && strings.TrimSpace(s.have[end-1].text) == "" {
			end--
		}
		if end < limit {
			p.to = max(p.to, end)
		}
	}
}

// isElision reports whether dots, alone or in a comment, stand for lines left out.
func isElision(l string) bool {
	l = strings.TrimSpace(l)
	dots := strings.Trim(l, " .…[](){}/*#<!->;")
	return isPlaceholder(l) || dots == "" && (strings.Contains(l, "...") || strings.Contains(l, "…"))
}

// settle adds the lines to the ends of p that make it as a whole more similar to all, the text
// sent, whose lines may be broken differently. It reports whether p is similar enough.
func (s *similarity) settle(p *place, all bigramSet) bool {
	joined := func(from, to int) float64 {
		var b strings.Builder
		for _, l := range s.have[from:to] {
			b.WriteString(cutWide(l.text))
		}
		return all.likeness(b.String())
	}
	s.toBlockEnd(p)
	whole := joined(p.from, p.to)
	for grown := p.to - p.from + farDrift; p.to-p.from < grown; {
		if p.to < len(s.have) {
			if like := joined(p.from, p.to+1); like > whole {
				p.to, whole = p.to+1, like
				continue
			}
		}
		if p.from == 0 {
			break
		}
		like := joined(p.from-1, p.to)
		if like <= whole {
			break
		}
		p.from, whole = p.from-1, like
	}
	p.score = (p.score + whole) / 2
	return p.score >= nearTotal
}

// drift is how many lines a place may have more or less than were sent.
func (s *similarity) drift() int {
	return max(nearDrift, min(farDrift, driftCells/len(s.want)))
}

// reach is how far from an offset its place may begin, in lines.
func (s *similarity) reach() int { return min(2, len(s.want)-1) }

// cutWide returns the part of a line that is looked at.
func cutWide(s string) string { return s[:min(len(s), nearWidth)] }

func (s *similarity) gain(j, i int) float64 { return s.weights[j] * s.likeness(j, i) }

// trace fills in p's pairs from the sums of align, which begin at sum[0][k].
func (s *similarity) trace(p *place, sum [][]float64, offset, k int) {
	for j := range p.pairs {
		p.pairs[j] = -1
	}
	j := 0
	for j < len(p.pairs) && k < len(sum[0])-1 {
		i := j + offset - s.drift() + k
		inFile := i >= 0 && i < len(s.have)
		switch here := sum[j][k]; {
		case here == 0:
			return
		case inFile && s.gain(j, i) > 0 && here == sum[j+1][k]+s.gain(j, i):
			p.pairs[j] = i
			j++
		case j > 0 && here == sum[j][k+1]-s.skips[j]:
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
	for _, r := range s {
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
