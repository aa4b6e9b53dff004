package repl

import "sync"

// queue holds the prompts typed during a turn.
type queue struct {
	mu    sync.Mutex // guards texts
	texts []string
}

func (q *queue) add(text string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.texts = append(q.texts, text)
}

func (q *queue) take() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	texts := q.texts
	q.texts = nil
	return texts
}

func (q *queue) list() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]string(nil), q.texts...)
}
