package lock

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/peer"
)

// maxDials bounds the connections tried at once.
const maxDials = 32

// probe connects to the ports of the valid candidates: only that shows whether an
// editor is running.
func (s Search) probe(ctx context.Context, found []Candidate) {
	var wait crash.Group
	turn := make(chan struct{}, maxDials)
	for i := range found {
		c := &found[i]
		if c.Why != "" {
			continue
		}
		wait.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			s.answer(ctx, c)
		})
	}
	wait.Wait()
}

// answer finds the host at which a candidate's port answers, and its owner.
func (s Search) answer(ctx context.Context, c *Candidate) {
	for _, host := range s.hosts(c) {
		c.Host = host
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.Address())
		if err != nil {
			continue
		}
		err = s.Check(conn)
		_ = conn.Close() // nothing was sent
		switch {
		case err == nil:
			c.Usable = true
		case errors.Is(err, peer.ErrElsewhere) || s.wsl() && c.File.InWindows && errors.Is(err, peer.ErrUnknown):
			c.Usable, c.Elsewhere = true, true
		case errors.Is(err, peer.ErrStranger):
			c.Why = fmt.Sprintf("another user's program listens on port %d: nothing is sent to it", c.Port)
		default:
			c.Why = fmt.Sprintf("nothing is sent to port %d, whose owner is unknown: %v", c.Port, err)
		}
		return
	}
	c.Why = fmt.Sprintf("nothing answers on port %d", c.Port)
	switch {
	case s.contained():
		c.Why += ": if the editor is outside this container, set " + Agent.hostVar + " to its host"
	case !s.wsl() && peer.Process(c.File.PID) == peer.Nobody:
		c.Why += " and its process is gone: the lock file was left over"
	}
}

// own marks locks whose process does not belong to this user: another program may use
// the port by now. On another machine the process id means nothing.
func (s Search) own(found []Candidate) {
	for i := range found {
		c := &found[i]
		if !c.Usable || c.Elsewhere || c.File.InWindows {
			continue
		}
		switch owner := peer.Process(c.File.PID); {
		case owner == peer.Nobody, owner == peer.Another:
			c.Gone = true
		case c.File.PID <= 0:
			c.Gone = c.Dialect == Agent // the others may omit it
		}
	}
}

// hosts returns the hosts where a candidate may listen. A lock file cannot choose one.
func (s Search) hosts(c *Candidate) []string {
	for _, name := range []string{c.Dialect.hostVar, Agent.hostVar} {
		if host := s.Env(name); name != "" && host != "" {
			return []string{host}
		}
	}
	hosts := []string{"127.0.0.1"}
	if s.wsl() && c.File.InWindows {
		if table, err := os.ReadFile("/proc/net/route"); err == nil {
			hosts = append(hosts, gateway(string(table))...)
		}
	}
	return hosts
}

// gateway reads the default route from the kernel's table: within WSL that is Windows.
func gateway(table string) []string {
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 3 || f[1] != "00000000" {
			continue
		}
		if b, err := hex.DecodeString(f[2]); err == nil && len(b) == 4 && f[2] != "00000000" {
			return []string{net.IPv4(b[3], b[2], b[1], b[0]).String()}
		}
	}
	return nil
}

// contained reports whether this is a container, with the editor perhaps outside.
func (s Search) contained() bool {
	if s.Env("container") != "" {
		return true
	}
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); err == nil {
			return true
		}
	}
	return false
}

// grade decides which candidates may be linked automatically or by hand, and explains
// the others.
func (s Search) grade(c *Candidate) {
	if c.Usable && c.Folder == "" && !c.Named {
		c.Usable, c.Why = false, "none of its folders holds "+s.Dir
	}
	c.Auto = c.Usable && !c.Gone && !c.Elsewhere && (c.Dialect == Agent || c.Named || s.Foreign)
	switch {
	case !c.Usable || c.Auto:
	case c.Elsewhere:
		c.Why = "it is not on this machine, so the owner of its port is unknown: connect to it by hand if you know it"
	case c.Gone:
		c.Why = "its process is gone or belongs to another user, so the lock file seems left over: connect to it by hand if you know it"
	default:
		c.Why = "it is another program's editor: connect to it by hand, or set ide.foreign to auto"
	}
}

// rank sorts the best first and explains why the others are not chosen.
func (s Search) rank(found []Candidate) {
	for i := range found {
		s.grade(&found[i])
	}
	slices.SortStableFunc(found, func(a, b Candidate) int {
		n, _ := compare(a, b)
		return n
	})
	for i := range found {
		if c := &found[i]; i > 0 && c.Auto {
			_, why := compare(found[0], *c)
			c.Why = "port " + strconv.Itoa(found[0].Port) + " comes first: " + why
		}
	}
}

// compare returns a negative number if a comes before b, and the reason.
func compare(a, b Candidate) (order int, why string) {
	for _, c := range []struct {
		order int
		why   string
	}{
		{first(a.Auto, b.Auto), "it may be connected without asking"},
		{first(a.Usable, b.Usable), "it answers"},
		{first(a.Dialect == Agent, b.Dialect == Agent), "it speaks our own protocol"},
		{first(a.Named, b.Named), "this terminal is its own"},
		{cmp.Compare(b.fit.depth, a.fit.depth), "its folder is closer"},
		{first(a.fit.ancestor, b.fit.ancestor), "it has started this program"},
		{b.fit.modified.Compare(a.fit.modified), "it was used last"},
	} {
		if c.order != 0 {
			return c.order, c.why
		}
	}
	return cmp.Compare(a.Port, b.Port), "its port is lower"
}

func first(a, b bool) int {
	switch {
	case a && !b:
		return -1
	case b && !a:
		return 1
	}
	return 0
}
