package recording

import (
	"sync"

	"github.com/bb2d0cf4/agent/internal/session"
)

// Play gives the recorded prompts when it is their turn. It is safe for concurrent use.
type Play struct {
	mu      sync.Mutex
	left    []Prompt
	answers int // of the model
}

// Play returns the prompts of a recording.
func (r Recording) Play() *Play { return &Play{left: r.Prompts} }

// Next returns the prompt of the next turn; false after the last one.
func (p *Play) Next() (text string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.left) == 0 {
		return "", false
	}
	text, p.left = p.left[0].Text, p.left[1:]
	return text, true
}

// Queued returns the prompts that the running turn gets now.
func (p *Play) Queued() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for len(p.left) > 0 && p.left[0].After > 0 && p.left[0].After <= p.answers {
		out = append(out, p.left[0].Text)
		p.left = p.left[1:]
	}
	return out
}

// Saw counts the answers of the model.
func (p *Play) Saw(ev session.Event) {
	if _, ok := ev.(session.AnswerEnded); ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.answers++
	}
}

// Answers returns the number of answers so far.
func (p *Play) Answers() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answers
}
