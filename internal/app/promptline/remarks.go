package promptline

import "strings"

// Remarks are what the model has to know beside the next prompt: what the user did
// to files or to the conversation without it. Its methods are called by one
// goroutine at a time.
type Remarks struct{ told []string }

// Add adds a remark, a sentence or more.
func (r *Remarks) Add(text string) { r.told = append(r.told, text) }

// Take returns the remarks since the last prompt; empty if there are none.
func (r *Remarks) Take() string {
	if len(r.told) == 0 {
		return ""
	}
	text := strings.Join(r.told, "\n") + "\n\n"
	r.told = nil
	return text
}
