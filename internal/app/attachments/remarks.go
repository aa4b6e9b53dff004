package attachments

import "strings"

// Remarks collects notes on changes that the user made to files or the conversation alone,
// which the model gets with the next prompt. Only one of its methods may run at a time.
type Remarks struct{ list []string }

// Add appends a remark, one or more sentences.
func (r *Remarks) Add(text string) { r.list = append(r.list, text) }

// Take returns the remarks since the last prompt, and forgets them. It is empty if there
// were none.
func (r *Remarks) Take() string {
	if len(r.list) == 0 {
		return ""
	}
	text := strings.Join(r.list, "\n") + "\n\n"
	r.list = nil
	return text
}
