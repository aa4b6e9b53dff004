package plain

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// makeRule asks for the rule that a yes makes, and how long it counts. The meaning is unclear
// if the person goes back to the question.
func (u *UI) makeRule(ctx context.Context, from time.Time, offer confirm.Offer) (confirm.Verdict, meaning, error) {
	always := confirm.Always{Rule: offer.Rule}
	if offer.Part != "" {
		u.say("The other commands in the line are allowed or read-only; the rule is for " + sanitize.Line(offer.Part) + ".\n")
	}
	for {
		u.say("Rule, or n to go back [" + sanitize.Line(offer.Rule) + "]: ")
		e, err := u.typed.next(ctx, from, nil)
		text := strings.TrimSpace(e.text)
		if err != nil || isNo(text) {
			return confirm.Verdict{}, unclear, err
		}
		if text != "" {
			always.Rule = text
		}
		wrong := offer.Check(always.Rule)
		if wrong == nil {
			break
		}
		u.say(u.opt.label("! ", "note") + sanitize.Line(wrong.Error()) + "\n")
	}
	for {
		u.say("For how long, or n to go back [session / project / 10 times / 2 hours]: ")
		e, err := u.typed.next(ctx, from, nil)
		if err != nil || isNo(strings.TrimSpace(e.text)) {
			return confirm.Verdict{}, unclear, err
		}
		if term, ok := parseTerm(e.text); ok {
			always.Term = term
			return confirm.Verdict{By: confirm.Terminal, Decision: confirm.Approve, Always: &always}, answers, nil
		}
	}
}

func isNo(text string) bool { return strings.EqualFold(text, "n") || strings.EqualFold(text, "no") }

// parseTerm parses how long a rule counts. An empty line is the session.
func parseTerm(text string) (t confirm.Term, ok bool) {
	number, unit, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), " ")
	n, err := strconv.Atoi(number)
	switch {
	case number == "project" && unit == "":
		return confirm.Term{Project: true}, true
	case (number == "session" || number == "") && unit == "":
		return t, true
	case err != nil || n < 1 || n > 99:
		return t, false
	case unit == "time" || unit == "times":
		return confirm.Term{Uses: n}, true
	case unit == "hour" || unit == "hours":
		return confirm.Term{Time: time.Duration(n) * time.Hour}, true
	}
	return t, false
}
