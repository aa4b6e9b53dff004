package panel

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// ruleMaker edits the rule that the person makes with a yes.
type ruleMaker struct {
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
func (m *ruleMaker) open(rule string, noColor bool) {
	m.ed = input.New(input.Options{NoColor: noColor})
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

// makeRule begins to edit the rule that the request offers. It returns false without one,
// if not enough of the request has been visible, or if hunks are left out.
func (p *Panel) makeRule() bool {
	if p.req.Offer == nil || !p.readable() || len(p.left()) > 0 {
		return false
	}
	p.rule.open(p.req.Offer.Rule, p.look.NoColor)
	return true
}

// readable reports whether enough of the request has been visible to approve it.
func (p *Panel) readable() bool { return p.scroll.fits && p.hidden(p.scroll) == 0 }

// pressRule handles a key while the rule is edited. Only Enter answers, if the rule may be
// made; a panel that is not armed does not answer.
func (p *Panel) pressRule(key tea.KeyPressMsg) (Outcome, confirm.Verdict) {
	m := &p.rule
	switch key.String() {
	case "esc":
		m.ed = nil
	case "tab":
		m.term = (m.term + 1) % len(m.terms())
	case "shift+tab":
		m.term = (m.term + len(m.terms()) - 1) % len(m.terms())
	case "up":
		m.step(1)
	case "down":
		m.step(-1)
	case "enter":
		if p.armed && p.ruleProblem() == "" {
			always := &confirm.Always{Rule: m.text(), Term: m.chosen()}
			return Answered, confirm.Verdict{Decision: confirm.Approve, By: me, Texts: p.texts(), Comments: p.words.comments, Always: always}
		}
	default:
		m.ed.Handle(key)
	}
	return Handled, confirm.Verdict{}
}

func (m *ruleMaker) text() string { return strings.TrimSpace(m.ed.Text()) }

// ruleProblem explains why Enter does not make the rule; "" if it does.
func (p *Panel) ruleProblem() string {
	if !p.readable() {
		return "too little room to see the question: enlarge the window"
	}
	if what, _ := p.part.unseen(); what != "" {
		return what + ": go back to the question and scroll"
	}
	if err := p.req.Offer.Check(p.rule.text()); err != nil {
		return err.Error()
	}
	return ""
}

// ruleMeaning describes the effect of the rule that is edited.
func (p *Panel) ruleMeaning() string {
	switch p.req.Subject.(type) {
	case *confirm.Edits:
		return "Edits of files with such a path are written without a question: * is for any name, ** for any folders."
	case *confirm.Read:
		return "Files with such a path are read without a question: * is for any name, ** for any folders."
	case *confirm.Call:
		return "This tool runs without a question, whatever its arguments are."
	default:
	}
	which := ""
	if part := p.req.Offer.Part; part != "" {
		which = "The other commands in this line are allowed or only read; the rule is for " + sanitize.Line(part) + ". "
	}
	if strings.HasSuffix(p.rule.text(), "*)") {
		return which + "Commands like this run without a question: * is for any arguments but options and paths out of the folder."
	}
	return which + "Exactly this command runs without a question."
}

// ruleHints describes the rule that is edited, and the keys.
func (p *Panel) ruleHints() []string {
	st, m := p.look.Styles, &p.rule
	terms := make([]string, len(m.terms()))
	for i, t := range m.terms() {
		terms[i] = t.String()
		if i == m.term {
			terms[i] = "[" + terms[i] + "]"
		}
	}
	keys := []string{"Enter yes, and allow it for " + m.chosen().String()}
	if t := m.chosen(); t.Uses > 0 {
		keys[0] = "Enter yes, and allow it " + t.String() + " more"
	}
	keys = append(keys, "Tab how long")
	if t := m.chosen(); t.Uses > 0 || t.Time > 0 {
		keys = append(keys, "↑↓ number")
	}
	keys = append(keys, "Esc back to the question")
	lines := hint(p.look, st.Dim, p.ruleMeaning())
	lines = append(lines, p.items(st.Dim, terms)...)
	if why := p.ruleProblem(); why != "" {
		keys = keys[1:]
		lines = append(lines, hint(p.look, st.Warn, "! "+sanitize.Line(why))...)
	}
	return append(lines, p.items(st.Accent, keys)...)
}

// ruleBrief is ruleHints for little room.
func (p *Panel) ruleBrief() []string {
	if why := p.ruleProblem(); why != "" {
		return hint(p.look, p.look.Styles.Warn, "! "+sanitize.Line(why))[:1]
	}
	return p.items(p.look.Styles.Accent, []string{"Enter yes, for " + p.rule.chosen().String(), "Tab how long", "Esc back"})[:1]
}
