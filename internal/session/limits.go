package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/plural"
)

// Limits limits the cost of a prompt, a session or a day. Zero means no limit. They are
// checked before each request, so one request may exceed them.
type Limits struct {
	MaxTurns   int           // requests to the model for one prompt
	MaxTime    time.Duration // for one prompt, with the time that its questions wait
	MaxTokens  int64         // input and output tokens of the session
	MaxCostUSD float64       // of the session
	MaxDayUSD  float64       // of all sessions on a day, see Options.Spending
	// MaxRequestUSD is the estimated cost of a request's input above which the user is asked.
	MaxRequestUSD float64
	// Unattended reports that nobody can say "go on", so that the remedy at a limit is another run.
	Unattended bool
}

// Spending keeps the cost of a day over sessions and processes.
type Spending interface {
	Today() (usd float64, err error)
	Add(ctx context.Context, usd float64) error
}

// limit names one of the limits.
type limit int

const (
	noLimit limit = iota // cannot be raised
	turnLimit
	timeLimit
	tokenLimit
	costLimit
	dayLimit
	requestLimit
)

// LimitError explains that a limit ended a turn, and the remedy.
type LimitError struct {
	Reason string

	limit   limit
	reached string // for the question whether to go on
	output  bool   // the model's own limit of output
}

// Error returns the reason.
func (e *LimitError) Error() string { return e.Reason }

// IsOfTokens reports whether the limit is one of tokens, of the session or of an answer.
func (e *LimitError) IsOfTokens() bool { return e.output || e.limit == tokenLimit }

// spent is the consumption that limits bound.
type spent struct {
	rounds   int // requests for this prompt
	time     time.Duration
	used     llm.Usage // of the session
	unpriced bool      // the last request has no known price
	today    float64
	next     int64   // estimated input of the next request in tokens that the provider's cache lacks
	nextUSD  float64 // their price
}

// check returns an error if the next request would exceed a limit, or a limit in money
// cannot be kept.
func (l Limits) check(s spent) *LimitError {
	reached := func(which limit, remedy, format string, args ...any) *LimitError {
		what := fmt.Sprintf(format, args...)
		return &LimitError{Reason: what + ". " + remedy, limit: which, reached: what}
	}
	const session = "Raise the limit or start a new session."
	switch tokens := s.used.Input + s.used.Output; {
	case l.MaxTurns > 0 && s.rounds >= l.MaxTurns:
		e := reached(turnLimit, "", "Request limit reached: %d of %d for this prompt (max_turns)", s.rounds, l.MaxTurns)
		e.Reason = e.reached + ". " + l.goOn("raise it", " with --max-turns")
		return e
	case l.MaxTime > 0 && s.time >= l.MaxTime:
		return reached(timeLimit, l.goOn("raise it", ""), "Time limit reached: %s of %s for this prompt (max_minutes)", s.time.Round(time.Second), l.MaxTime)
	case l.MaxTokens > 0 && tokens >= l.MaxTokens:
		return reached(tokenLimit, session, "Token limit reached: %s of %s (max_session_tokens)", plural.Grouped(tokens), plural.Grouped(l.MaxTokens))
	case l.MaxCostUSD > 0 && s.used.CostUSD >= l.MaxCostUSD:
		return reached(costLimit, session, "Cost limit reached: %s of %s (max_cost_usd)", dollars(s.used.CostUSD), dollars(l.MaxCostUSD))
	case l.MaxDayUSD > 0 && s.today >= l.MaxDayUSD:
		return reached(dayLimit, "Raise the limit or continue tomorrow.", "Daily cost limit reached: %s of %s (max_cost_usd_per_day)", dollars(s.today), dollars(l.MaxDayUSD))
	case l.MaxRequestUSD > 0 && s.nextUSD > l.MaxRequestUSD:
		return reached(requestLimit, "Raise the limit, or shorten the conversation with /compact.",
			"The next request costs about %s, more than %s: %s tokens are not cached (max_request_usd)", dollars(s.nextUSD), dollars(l.MaxRequestUSD), plural.Grouped(s.next))
	}
	return l.checkPrice(s)
}

// goOn returns the remedy at a limit that ends only the turn: the next prompt, or to raise the
// limit, by a flag of another run if nobody is there.
func (l Limits) goOn(raise, flag string) string {
	if l.Unattended {
		return "Continue with agent -c -p \"go on\", or " + raise + flag + "."
	}
	return "Say \"go on\", or " + raise + "."
}

// requests returns a number of requests in words.
func requests(n int) string {
	if n == 1 {
		return "1 request"
	}
	return fmt.Sprintf("%d requests", n)
}

// checkPrice returns an error if a limit in money cannot be kept, because the last request
// had no known price.
func (l Limits) checkPrice(s spent) *LimitError {
	switch {
	case s.unpriced && l.MaxCostUSD > 0:
		return &LimitError{Reason: unpriced("max_cost_usd")}
	case s.unpriced && l.MaxDayUSD > 0:
		return &LimitError{Reason: unpriced("max_cost_usd_per_day")}
	}
	return nil
}

func unpriced(key string) string {
	return "There is a cost limit (" + key + "), but the price of this model is unknown. " +
		"Set its price_input and price_output, or remove the limit."
}

// dollars formats an amount of money, less than ten cents with parts of a cent.
func dollars(usd float64) string {
	if usd < 0.1 {
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// amount describes the limit which.
func (l Limits) amount(which limit) string {
	switch which {
	case turnLimit:
		return requests(l.MaxTurns)
	case timeLimit:
		return l.MaxTime.String()
	case tokenLimit:
		return plural.Grouped(l.MaxTokens) + " tokens"
	case costLimit:
		return dollars(l.MaxCostUSD)
	case dayLimit:
		return dollars(l.MaxDayUSD)
	case requestLimit:
		return dollars(l.MaxRequestUSD)
	case noLimit:
	}
	return ""
}

// raise raises the limit which by its value in by.
func (l *Limits) raise(which limit, by Limits) {
	switch which {
	case turnLimit:
		l.MaxTurns += by.MaxTurns
	case timeLimit:
		l.MaxTime += by.MaxTime
	case tokenLimit:
		l.MaxTokens += by.MaxTokens
	case costLimit:
		l.MaxCostUSD += by.MaxCostUSD
	case dayLimit:
		l.MaxDayUSD += by.MaxDayUSD
	case requestLimit:
		l.MaxRequestUSD += by.MaxRequestUSD
	case noLimit:
	}
}

// without returns l without the limits in lifted.
func (l Limits) without(lifted []limit) Limits {
	for _, which := range lifted {
		switch which {
		case turnLimit:
			l.MaxTurns = 0
		case timeLimit:
			l.MaxTime = 0
		case tokenLimit:
			l.MaxTokens = 0
		case costLimit:
			l.MaxCostUSD = 0
		case dayLimit:
			l.MaxDayUSD = 0
		case requestLimit:
			l.MaxRequestUSD = 0
		case noLimit:
		}
	}
	return l
}

// allowed returns an error if a limit ends the turn before the next request.
func (t *turn) allowed(ctx context.Context) error {
	err := t.withinLimits(ctx)
	if b := t.loop.opt.Budget; err == nil && b != nil {
		err = b.Allow(ctx)
	}
	return err
}

// withinLimits returns an error if a limit of the session forbids the next request. At a
// limit it asks whether to go on. lifted are limits that do not count.
func (t *turn) withinLimits(ctx context.Context, lifted ...limit) error {
	s, err := t.spent()
	if err != nil {
		return err
	}
	for {
		e := t.limits.without(lifted).check(s)
		if e == nil {
			return nil
		}
		once, err := t.askLimit(ctx, e)
		if err != nil {
			return err
		}
		if once {
			lifted = append(lifted, e.limit)
		}
	}
}

// spent returns the consumption so far.
func (t *turn) spent() (spent, error) {
	l := t.loop
	s, err := l.spent(l.account, t.limits)
	s.rounds, s.time = t.rounds, l.opt.Now().Sub(t.began)
	if err == nil && t.limits.MaxRequestUSD > 0 {
		s.next, s.nextUSD = l.estimate()
	}
	return s, err
}

// spent returns the consumption of a session. Any goroutine may call it.
func (l *Loop) spent(of *account, limits Limits) (s spent, err error) {
	unkept := of.read(&s)
	if limits.MaxDayUSD == 0 || l.opt.Spending == nil {
		return s, nil
	}
	s.today, err = l.opt.Spending.Today()
	if err = errors.Join(unkept, err); err != nil {
		return s, &LimitError{Reason: "There is a daily limit (max_cost_usd_per_day), but " + err.Error()}
	}
	return s, nil
}

// estimate returns the tokens of the next request that the provider's cache probably lacks,
// and their price, without the answer.
func (l *Loop) estimate() (tokens int64, usd float64) {
	tokens = l.room.resumed
	if tokens == 0 {
		f := l.room.fill(l.load())
		tokens = f.Used()
	}
	return l.uncached(l.account, tokens, l.opt.Model)
}

// uncached returns the tokens of a request that the provider's cache probably lacks, and their price.
func (l *Loop) uncached(of *account, tokens int64, m llm.Model) (lacks int64, usd float64) {
	tokens = max(0, tokens-of.cached(l.opt.Now()))
	return tokens, float64(tokens) * m.Info().InputUSD / 1e6
}

// price tells the user the least that several sub-agents cost, if a limit counts it.
func (t *turn) price(subAgents int) {
	l := t.loop
	f := l.room.fill(l.load())
	usd := float64(f.System+f.Tools) * l.opt.Model.Info().InputUSD / 1e6
	if subAgents < 2 || usd == 0 || t.limits.MaxCostUSD <= 0 {
		return
	}
	l.opt.Emit(Notice{Text: fmt.Sprintf("%d sub-agents begin: each of their requests costs about $%.4f or more, and %s of %s (max_cost_usd) are left.",
		subAgents, usd, dollars(max(0, t.limits.MaxCostUSD-l.account.used().CostUSD)), dollars(t.limits.MaxCostUSD))})
}

// askLimit asks whether to go on at a limit, and raises it if the answer is to extend it.
// once reports that one more request may be made.
func (t *turn) askLimit(ctx context.Context, e *LimitError) (once bool, err error) {
	l := t.loop
	if e.limit == noLimit || l.opt.Ask == nil {
		return false, e
	}
	v, err := l.opt.Ask.Ask(ctx, confirm.Request{
		Tool: "limit", Subject: &confirm.Limit{Reached: e.reached, Step: l.opt.Limits.amount(e.limit)},
	})
	switch {
	case err != nil:
		return false, err
	case v.Decision != confirm.Approve || v.Rule:
		return false, e
	case !v.Session:
		return true, nil
	}
	t.limits.raise(e.limit, l.opt.Limits)
	if e.limit != turnLimit && e.limit != timeLimit {
		l.account.extend(e.limit, l.opt.Limits)
	}
	return false, nil
}

// settle adds the cost of a request to that of the day. If that fails, the next check ends
// the turn.
func (l *Loop) settle(ctx context.Context, of *account, usd float64) {
	if l.opt.Spending == nil || l.opt.Limits.MaxDayUSD == 0 || usd == 0 {
		return
	}
	const patience = 5 * time.Second // for other processes
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	of.lost(l.opt.Spending.Add(ctx, usd))
}
