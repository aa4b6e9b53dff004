package ide

import (
	"fmt"
	"hash/maphash"
	"strings"
	"sync"
)

// proposed holds the texts shown in editors. Some editors answer without naming the
// diff, so a text that differs from the proposal is compared with all of them: it may
// belong to another question, or be an edit of its text.
type proposed struct {
	seed maphash.Seed

	mu  sync.Mutex
	all []sample // oldest first
}

// sample is a text that was shown: a proposal, or the content of the file before it.
type sample struct {
	id, path string // of the question
	name     string // of the file, for people
	sum      uint64 // of the text
	lines    lines
}

// lines is a text as a multiset of lines, by their hashes.
type lines struct {
	bytes map[uint64]int // bytes of the text in lines with that hash
	total int
}

const (
	// maxProposed is the number of texts kept.
	maxProposed = 200
	// alike is the least part of two texts in common lines for one to be an edit of the
	// other.
	alike = 0.5
)

// add remembers the texts of a question.
func (p *proposed) add(q *question) {
	c := q.change
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, text := range []string{q.text(), c.Text} {
		if text != "" {
			p.all = append(p.all, sample{q.req.ID, c.Path, c.Name, maphash.String(p.seed, text), p.linesOf(text)})
		}
	}
	if over := len(p.all) - maxProposed; over > 0 {
		p.all = p.all[over:]
	}
}

// doubt explains why text, returned by an editor for the question q, may belong to
// another question; it returns "" for text that clearly is an edit. other reports
// whether text is exactly that of another file.
func (p *proposed) doubt(q *question, text string) (why string, other bool) {
	c := q.change
	p.mu.Lock()
	defer p.mu.Unlock()
	sum, got := maphash.String(p.seed, text), p.linesOf(text)
	if text == c.Text {
		return "", false
	}
	own := max(got.like(p.linesOf(q.text())), got.like(p.linesOf(c.Text)))
	for _, e := range p.all {
		switch {
		case e.sum == sum && e.path != c.Path:
			return fmt.Sprintf("it is the text of %s", e.name), true
		case e.sum == sum && e.id != q.req.ID:
			return "it was proposed before, in another question", false
		case e.path != c.Path && got.like(e.lines) > own:
			return fmt.Sprintf("it looks more like %s", e.name), false
		}
	}
	if own < alike {
		return "it has little in common with the text that was shown", false
	}
	return "", false
}

func (p *proposed) linesOf(text string) lines { return newLines(p.seed, text) }

func newLines(seed maphash.Seed, text string) lines {
	l := lines{bytes: map[uint64]int{}, total: len(text)}
	for line := range strings.Lines(text) {
		l.bytes[maphash.String(seed, strings.TrimRight(line, "\r\n"))] += len(line)
	}
	return l
}

// like returns the part of two texts that is in lines common to both, from 0 to 1.
func (l lines) like(other lines) float64 {
	if l.total+other.total == 0 {
		return 1
	}
	common := 0
	for sum, n := range l.bytes {
		common += min(n, other.bytes[sum])
	}
	return 2 * float64(common) / float64(l.total+other.total)
}
