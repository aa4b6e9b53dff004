package mcp

import (
	"context"
	"fmt"
)

// Recheck runs the checks of the servers at addresses again, in the background: it ends a
// server that must not be used any more, and connects one that was refused. The next Settle
// waits for it.
func (s *Servers) Recheck() {
	for _, one := range s.all {
		if one.Check != nil && one.URL != "" {
			one.due.Add(1)
			signal(one.rechecks)
		}
	}
}

// recheck does the work of Recheck, if nobody has since.
func (s *server) recheck(ctx context.Context) {
	due := s.due.Load()
	if s.done.Load() == due {
		return
	}
	defer s.done.Store(due)
	if s.stopped {
		return
	}
	switch err := s.Check(ctx); {
	case err != nil && !s.refused:
		s.drop()
		s.refused = true
		s.withdraw(err)
		s.opt.Tell(fmt.Sprintf("The MCP server %s is not used: %v. /mcp shows more.", s.Name, err))
	case err == nil && s.refused && s.connect(ctx) == nil:
		s.opt.Tell(fmt.Sprintf("The MCP server %s is used now.", s.Name))
	}
}

// withdraw publishes that the server must not be used, so that nothing of it is offered.
func (s *server) withdraw(why error) {
	s.publish(Ready, "", nil)
	s.publish(Failed, why.Error(), nil)
	s.mu.Lock()
	s.now.offers = offers{}
	s.mu.Unlock()
	s.opt.Offered()
}
