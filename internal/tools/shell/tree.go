package shell

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// patience limits the steps of ending processes.
type patience struct {
	grace time.Duration // between TERM and KILL
	kill  time.Duration // for killed processes to disappear
}

// Time limits for processes that end by themselves just after the shell, like >(tee log).
const (
	selfEndTime = 300 * time.Millisecond // since one of them was last seen working
	workTime    = 2 * time.Second        // in all: a busy machine gives them little processor time
)

var (
	afterExit = patience{grace: 250 * time.Millisecond, kill: 300 * time.Millisecond}
	onRequest = patience{grace: 2 * time.Second, kill: time.Second} // on a timeout or cancellation
)

// tree is the shell of a command and all its descendants. left and strays, which find
// them, depend on the system.
type tree struct {
	family *family
	shell  identity
	exited chan struct{} // closed when the shell has been waited for

	// Attributes that identify the command's processes.
	mark string   // NAME=value in the environment
	pipe *os.File // our end of their output

	// Findings of left, owned by the goroutine that ends the command.
	alone bool              // we have no child at all
	known map[identity]bool // the command's, dead or alive
}

func newTree(f *family, shell identity, mark string, pipe *os.File) *tree {
	return &tree{
		family: f, shell: shell, exited: make(chan struct{}),
		mark: mark, pipe: pipe, known: map[identity]bool{},
	}
}

// hasExited reports whether the shell has been waited for.
func (t *tree) hasExited() bool {
	select {
	case <-t.exited:
		return true
	default:
		return false
	}
}

// endLeft ends the processes that remain after the shell's exit, at once if stop is closed.
func (t *tree) endLeft(stop <-chan struct{}) leftovers {
	var r leftovers
	if left := waitGone(t.left, selfEndTime, workTime, stop); len(left) > 0 {
		r.survivors = t.end(left, afterExit)
		r.ended = without(left, r.survivors)
	}
	return t.finish(r)
}

// finish sweeps after end, and returns all that was left.
func (t *tree) finish(r leftovers) leftovers {
	ended, survivors := t.sweep()
	if len(r.survivors) > 0 { // the sweep may have ended them
		gone := without(r.survivors, t.left())
		r.ended, r.survivors = append(r.ended, gone...), without(r.survivors, gone)
	}
	r.ended = append(r.ended, without(ended, r.ended)...)
	r.survivors = append(r.survivors, without(survivors, r.survivors)...)
	r.strays = without(t.strays(), r.survivors)
	return r
}

// end ends the processes in left, and returns those that survive.
func (t *tree) end(left []process, p patience) []process {
	return endAll(t.left, t.shell.pid, left, p)
}

// endNow ends all processes of a command that was stopped. Nobody need know which ended.
func (t *tree) endNow() leftovers {
	r := t.finish(leftovers{survivors: t.end(t.left(), onRequest)})
	r.ended = nil
	return r
}

// endAll asks left, and processes that look finds meanwhile, to terminate, kills the rest
// after p.grace, and returns the processes that remain after p.kill. group is their
// common process group, or zero.
func endAll(look func() []process, group int, left []process, p patience) []process {
	terminate(group, left)
	if left = waitGone(look, p.grace, p.grace, nil); len(left) == 0 {
		return nil
	}
	deadline := time.NewTimer(p.kill)
	defer deadline.Stop()
	for pause := time.Millisecond; len(left) > 0; pause = min(2*pause, 20*time.Millisecond) {
		kill(group, left) // each time: it may have forked again
		select {
		case <-time.After(pause):
		case <-deadline.C:
			return look()
		}
		left = look()
	}
	return nil
}

// waitGone waits until look finds no processes, none has worked for idle, most is over or
// stop is closed, and returns the remaining ones. There is no event for the end of a
// process that is not our child, so it polls after 1 to 20 ms.
func waitGone(look func() []process, idle, most time.Duration, stop <-chan struct{}) []process {
	begin := time.Now()
	worked := begin
	spent := map[identity]uint64{}
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		left := look()
		now := time.Now()
		for _, p := range left {
			if before, seen := spent[p.identity]; p.runs || seen && p.spent > before {
				worked = now
			}
			spent[p.identity] = p.spent
		}
		if len(left) == 0 || now.Sub(worked) >= idle || now.Sub(begin) >= most {
			return left
		}
		select {
		case <-time.After(pause):
		case <-stop:
			return look()
		}
	}
}

// identity identifies a process even if its pid is reused.
type identity struct {
	pid   int
	start uint64 // in ticks since the system's start; zero if unknown
}

// process is one process of a command as it was seen.
type process struct {
	identity
	name  string
	runs  bool   // its first thread runs, or waits for a processor or a disk; false if unknown
	spent uint64 // processor time of all threads, in ticks; zero if unknown
}

// printable replaces characters with which a process name could forge a message.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) || r == '\uFFFD' {
			return '?'
		}
		return r
	}, name)
}

// without returns the processes of ps that are not in gone.
func without(ps, gone []process) []process {
	var out []process
	for _, p := range ps {
		found := false
		for _, g := range gone {
			found = found || p.identity == g.identity
		}
		if !found {
			out = append(out, p)
		}
	}
	return out
}

// leftovers are the processes that remained when the shell exited or was ended.
type leftovers struct {
	ended     []process
	survivors []process // could not be ended
	strays    []process // see tree.strays
	unwatched error     // why there is no watchdog
}

// notes describes the leftovers for people and models.
func (r leftovers) notes() (notes []string) {
	for _, part := range []struct {
		ps   []process
		what string
	}{
		{r.ended, "left in the background and ended"},
		{r.survivors, "impossible to end and may still be running"},
		{r.strays, "detached from the command and may still be running"},
	} {
		if len(part.ps) > 0 {
			notes = append(notes, fmt.Sprintf("%s %s: %s", count(len(part.ps)), part.what, list(part.ps)))
		}
	}
	if r.unwatched != nil {
		notes = append(notes, fmt.Sprintf("no watchdog could be started (%v): if this program is killed, its commands keep running", r.unwatched))
	}
	return notes
}

func count(n int) string {
	if n == 1 {
		return "1 process was"
	}
	return fmt.Sprintf("%d processes were", n)
}

// list names at most ten processes.
func list(ps []process) string {
	var names []string
	for i, p := range ps {
		if i == 10 {
			names = append(names, "…")
			break
		}
		if p.pid > 0 {
			p.name += fmt.Sprintf(" (pid %d)", p.pid)
		}
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}
