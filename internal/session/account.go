package session

import (
	"errors"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// account counts the usage of a session, and has its limits. It is safe for concurrent use: side
// questions count, too.
type account struct {
	mu       sync.Mutex
	total    llm.Usage
	unpriced bool      // the cost of the last answer is unknown
	unkept   error     // costs of the day that could not be kept
	limits   Limits    // as the user has extended them
	early    llm.Usage // not in the session's file: an empty session is not saved
	last     struct {
		at     time.Time
		tokens int64
	} // the last answer of the model in use, with its request
}

// next returns the account of the next session, which has used total. c may be nil.
func (c *account) next(total llm.Usage, limits Limits) *account {
	n := &account{total: total, limits: limits}
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		n.unpriced, n.unkept, n.last = c.unpriced, c.unkept, c.last
	}
	return n
}

// isUnpriced reports whether the price of a request to a model is unknown.
func isUnpriced(u llm.Usage, m llm.Info) bool {
	return u.CostUSD == 0 && u.Input+u.Output > 0 && !m.Free
}

// add counts the usage of a request.
func (c *account) add(u llm.Usage, unpriced bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total, c.unpriced = c.total.Add(u), unpriced
}

// answered notes the usage of the last request of the conversation.
func (c *account) answered(at time.Time, u llm.Usage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last.at, c.last.tokens = at, u.Input+u.Output
}

// renew drops the counts of the model.
func (c *account) renew() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unpriced, c.last.tokens = false, 0
}

// cacheLife is how long a provider's cache holds a request, by their documentation.
const cacheLife = 5 * time.Minute

// cached returns how many tokens of the next request the provider's cache probably holds.
func (c *account) cached(now time.Time) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.last.at) >= cacheLife {
		return 0
	}
	return c.last.tokens
}

func (c *account) used() llm.Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// read copies the consumption to s, and returns why costs of the day are lost.
func (c *account) read(s *spent) (unkept error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.used, s.unpriced = c.total, c.unpriced
	return c.unkept
}

// tell calls emit with the total. No other total is told meanwhile, so that the last one is right.
func (c *account) tell(emit func(total llm.Usage)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	emit(c.total)
}

// extended returns the limits.
func (c *account) extended() Limits {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limits
}

// extend raises a limit.
func (c *account) extend(which limit, by Limits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limits.raise(which, by)
}

// lost notes that the cost of a request could not be kept, unless err is nil.
func (c *account) lost(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unkept = errors.Join(c.unkept, err)
}

// hold notes usage that the session's file lacks.
func (c *account) hold(u llm.Usage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.early = c.early.Add(u)
}

// unsaved returns the usage that the session's file lacks, and forgets it.
func (c *account) unsaved() llm.Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.early
	c.early = llm.Usage{}
	return u
}
