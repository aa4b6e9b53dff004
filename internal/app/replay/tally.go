package replay

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// Tally counts the questions of calls. The zero value is empty.
type Tally struct {
	Calls   int
	Asked   int // questions to a person
	Refused int // by a rule or the mode

	askers map[string]*Asker // by the rules, or the subject if no rule can allow it
}

// Asker is a sort of questions: those that the same rules would answer.
type Asker struct {
	Times  int      `json:"times"`
	Rules  []string `json:"allow_with,omitempty"` // the narrowest; empty if none can
	SuchAs string   `json:"such_as"`              // the first of them; not sanitized
	Forced bool     `json:"forced,omitempty"`     // asks every time
}

// Add counts a call with its answers.
func (t *Tally) Add(answers []Answer) {
	t.Calls++
	for _, a := range answers {
		switch {
		case a.Refused():
			t.Refused++
		case a.Asks():
			t.Asked++
			t.asker(a).Times++
		}
	}
}

// asker returns the entry for a question.
func (t *Tally) asker(a Answer) *Asker {
	var rules []string
	for _, r := range a.Rules {
		rules = append(rules, r.String())
	}
	key := cmp.Or(strings.Join(rules, "\n"), a.Subject())
	if t.askers == nil {
		t.askers = map[string]*Asker{}
	}
	if t.askers[key] == nil {
		t.askers[key] = &Asker{Rules: rules, SuchAs: a.Subject(), Forced: a.Request.Force}
	}
	return t.askers[key]
}

// Askers returns the sorts of questions, the most frequent first.
func (t *Tally) Askers() []Asker {
	all := make([]Asker, 0, len(t.askers))
	for _, a := range t.askers {
		all = append(all, *a)
	}
	slices.SortFunc(all, func(a, b Asker) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), strings.Compare(a.SuchAs, b.SuchAs))
	})
	return all
}

// Subject describes the question: the command, or the file. It is not sanitized.
func (a Answer) Subject() string {
	switch s := a.Request.Subject.(type) {
	case *confirm.Command:
		return s.Line
	case *confirm.Edits:
		verb := "edit "
		switch c := s.Changes[0]; {
		case c.Delete:
			verb = "remove "
		case c.Moves():
			verb = "move "
		}
		return verb + s.Changes[0].Label()
	case *confirm.Read:
		return "read " + cmp.Or(s.Name, s.Path)
	default:
		return a.Request.Tool
	}
}
