package panel

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// ruleMaker edits the rule that the person makes with a yes.
type ruleMaker struct {
	*Panel
	ed    *input.Editor // not nil while the rule is edited
	term  int           // index of terms
	uses  int
	hours int
}

// The bounds of the numbers in terms.
const (
	maxUses  = 99
	maxHours = 12
)

// open begins to edit a rule.
func (m *ruleMaker) open(rule string, opt input.Options) {
	m.ed = input.New(opt)
	m.ed.Insert(rule)
	if m.uses == 0 {
		m.uses, m.hours = 10, 1
	}
}

// terms lists how long the rule may count.
func (m *ruleMaker) terms() []confirm.Term {
	return []confirm.Term{{}, {Project: true}, {Uses: m.uses}, {Time: time.Duration(m.hours) * time.Hour}}
}

func (m *ruleMaker) chosen() confirm.Term { return m.terms()[m.term] }

// step chooses a smaller or greater number, if the term has one.
func (m *ruleMaker) step(by int) {
	switch t := m.chosen(); {
	case t.Uses > 0:
		m.uses = min(max(m.uses+by, 1), maxUses)
	case t.Time > 0:
		m.hours = min(max(m.hours+by, 1), maxHours)
	}
}

// begin begins to edit the rule that the request offers. It returns false without one,
// if not enough of the request has been visible, or if hunks are left out.
func (m *ruleMaker) begin() bool {
	if m.req.Offer == nil || !m.answer.readable() || len(m.diff.left()) > 0 {
		return false
	}
	m.open(m.req.Offer.Rule, input.Options{NoColor: m.look.NoColor, Keys: m.Keys})
	return true
}

// press handles a key while the rule is edited. Only Enter answers, if the rule may be
// made; a panel that is not armed does not answer.
func (m *ruleMaker) press(key tea.KeyPressMsg) (Outcome, confirm.Verdict) {
	switch m.Keys.At(keys.Prompt, key) {
	case keys.Stop:
		m.ed = nil
	case keys.Complete:
		m.term = (m.term + 1) % len(m.terms())
	case keys.Mode:
		m.term = (m.term + len(m.terms()) - 1) % len(m.terms())
	case keys.Previous:
		m.step(1)
	case keys.Next:
		m.step(-1)
	case keys.Send:
		if m.armed && m.problem() == "" {
			always := &confirm.Always{Rule: m.text(), Term: m.chosen()}
			return Answered, confirm.Verdict{Decision: confirm.Approve, By: me, Texts: m.answer.edited(), Comments: m.words.comments, Always: always}
		}
	default:
		m.ed.Handle(key)
	}
	return Handled, confirm.Verdict{}
}

func (m *ruleMaker) text() string { return strings.TrimSpace(m.ed.Text()) }

// problem explains why Enter does not make the rule; "" if it does.
func (m *ruleMaker) problem() string {
	if !m.answer.readable() {
		return "too little room to see the question: enlarge the window"
	}
	if what, _ := m.part.unseen(); what != "" {
		return what + ": go back to the question and scroll"
	}
	if err := m.req.Offer.Check(m.text()); err != nil {
		return err.Error()
	}
	return ""
}

// meaning describes the effect of the rule that is edited.
func (m *ruleMaker) meaning() string {
	switch m.req.Subject.(type) {
	case *confirm.Edits:
		return "Edits of these files are saved without asking: * stands for any name, ** for any folders."
	case *confirm.Read:
		return "These files are read without asking: * stands for any name, ** for any folders."
	case *confirm.Call:
		return "This tool runs without asking, with any arguments."
	default:
	}
	which := ""
	if part := m.req.Offer.Part; part != "" {
		which = "The other commands in this line are allowed or read-only; the rule is for " + sanitize.Line(part) + ". "
	}
	if strings.HasSuffix(m.text(), "*)") {
		return which + "These commands run without asking: * stands for any arguments except options and paths outside the folder."
	}
	return which + "Exactly this command runs without asking."
}

// lines describes the rule that is edited, and the keys.
func (m *ruleMaker) hints() []string {
	st, m := m.look.Styles, &m.rule
	terms := make([]string, len(m.terms()))
	for i, t := range m.terms() {
		terms[i] = t.String()
		if i == m.term {
			terms[i] = "[" + terms[i] + "]"
		}
	}
	t := m.chosen()
	yes := "yes, and allow it for " + t.String()
	if t.Uses > 0 {
		yes = "yes, and allow it " + t.String() + " more"
	}
	hints := []string{m.legend.hint(yes, keys.Send), m.legend.hint("how long", keys.Complete)}
	if t.Uses > 0 || t.Time > 0 {
		hints = append(hints, m.legend.hint("", keys.Previous)+m.legend.hint("number", keys.Next))
	}
	hints = append(hints, m.legend.hint("back to the question", keys.Stop))
	lines := hint(m.look, st.Dim, m.meaning())
	lines = append(lines, m.legend.items(st.Dim, terms)...)
	if why := m.problem(); why != "" {
		hints = hints[1:]
		lines = append(lines, hint(m.look, st.Warn, "! "+sanitize.Line(why))...)
	}
	return append(lines, m.legend.items(st.Accent, hints)...)
}

// brief is ruleHints for little room.
func (m *ruleMaker) brief() []string {
	if why := m.problem(); why != "" {
		return hint(m.look, m.look.Styles.Warn, "! "+sanitize.Line(why))[:1]
	}
	return m.legend.items(m.look.Styles.Accent, []string{m.legend.hint("yes, for "+m.chosen().String(), keys.Send), m.legend.hint("how long", keys.Complete), m.legend.hint("back", keys.Stop)})[:1]
}
