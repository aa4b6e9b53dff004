package ide

import (
	"fmt"
	"hash/maphash"
	"strings"
	"sync"
)

// proposed are the texts that were shown in editors. Some editors answer without
// saying which diff they mean, so a text that differs from the proposal is compared
// with all of them: it may be another one, or an edit of another one.
type proposed struct {
	seed maphash.Seed

	mu  sync.Mutex
	all []exemplar // oldest first
}

// exemplar is a text that was shown: a proposal, or what the file held before.
type exemplar struct {
	id, path string // of the question
	name     string // of the file, for people
	sum      uint64 // of the text
	lines    lines
}

// lines counts the lines of a text, by their sums.
type lines struct {
	bytes map[uint64]int // how many bytes of the text are in lines with that sum
	total int
}

const (
	// mostProposed is how many texts are kept.
	mostProposed = 200
	// alike is the part of two texts that must be the same lines for one to be an edit
	// of the other.
	alike = 0.5
)

// add remembers the texts of a question.
func (p *proposed) add(s *standing) {
	c := s.req.Change
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, text := range []string{s.text(), c.Text} {
		if text != "" {
			p.all = append(p.all, exemplar{s.req.ID, c.Path, c.Name, maphash.String(p.seed, text), p.linesOf(text)})
		}
	}
	if over := len(p.all) - mostProposed; over > 0 {
		p.all = p.all[over:]
	}
}

// doubt says why text, which an editor returned for the question s, may belong to
// another question; "" if it is plainly an edit. other is set if text is exactly that
// of another file.
func (p *proposed) doubt(s *standing, text string) (why string, other bool) {
	c := s.req.Change
	p.mu.Lock()
	defer p.mu.Unlock()
	sum, got := maphash.String(p.seed, text), p.linesOf(text)
	if text == c.Text {
		return "", false
	}
	own := max(got.like(p.linesOf(s.text())), got.like(p.linesOf(c.Text)))
	for _, e := range p.all {
		switch {
		case e.sum == sum && e.path != c.Path:
			return fmt.Sprintf("it is the text of %s", e.name), true
		case e.sum == sum && e.id != s.req.ID:
			return "it was proposed before, in another question", false
		case e.path != c.Path && got.like(e.lines) > own:
			return fmt.Sprintf("it looks more like %s", e.name), false
		}
	}
	if own < alike {
		return "little of it is the text that was shown", false
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

// like returns which part of two texts is in lines that both have, 0 to 1.
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
