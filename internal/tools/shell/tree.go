package shell

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// patience is how long the steps of ending processes may take.
type patience struct {
	grace time.Duration // between TERM and KILL
	kill  time.Duration // for the killed to disappear
}

// How long the ways to an end may take. What follows the shell's own exit
// (settleTime, afterExit, then drainTime at least and twice lastReads) adds up to
// less than a second.
const settleTime = 300 * time.Millisecond // for what ends by itself just after the shell, like >(tee log)

var (
	afterExit = patience{grace: 250 * time.Millisecond, kill: 300 * time.Millisecond}
	whenTold  = patience{grace: 2 * time.Second, kill: time.Second} // on a timeout and when cancelled
)

// tree is the shell of a command and all the processes that come from it. left
// and strays, by which it finds them, differ between systems.
type tree struct {
	family *family
	shell  identity
	exited chan struct{} // closed when the shell has been waited for

	// What tells the command's processes from others.
	mark string   // NAME=value in the environment
	pipe *os.File // our end of their output

	// What left has seen; it belongs to the goroutine that ends the command.
	alone bool              // we have no child at all
	known map[identity]bool // the command's, dead or alive
}

func newTree(f *family, shell identity, mark string, pipe *os.File) *tree {
	return &tree{
		family: f, shell: shell, exited: make(chan struct{}),
		mark: mark, pipe: pipe, known: map[identity]bool{},
	}
}

// hasExited says whether the shell has been waited for.
func (t *tree) hasExited() bool {
	select {
	case <-t.exited:
		return true
	default:
		return false
	}
}

// endLeft ends what the shell left behind when it exited.
func (t *tree) endLeft() rest {
	var r rest
	if left := settle(t.left, settleTime); len(left) > 0 {
		r.survivors = t.end(left, afterExit)
		r.ended = without(left, r.survivors)
	}
	r.strays = t.strays()
	return r
}

func (t *tree) end(left []process, p patience) []process {
	return endAll(t.left, t.shell.pid, left, p)
}

// endAll asks left, and what look finds meanwhile, to terminate, kills what has not
// done so when p.grace is over, and returns what is still there after p.kill. group
// is a process group of theirs; zero: they have none in common.
func endAll(look func() []process, group int, left []process, p patience) []process {
	terminate(group, left)
	if left = settle(look, p.grace); len(left) == 0 {
		return nil
	}
	deadline := time.NewTimer(p.kill)
	defer deadline.Stop()
	for pause := time.Millisecond; len(left) > 0; pause = min(2*pause, 20*time.Millisecond) {
		kill(group, left) // again each time: it may have forked
		select {
		case <-time.After(pause):
		case <-deadline.C:
			return look()
		}
		left = look()
	}
	return nil
}

// settle waits at most limit for the processes that look finds to be gone and returns
// those that are not. There is no event for the end of a process that is not
// ours, so it looks again, after 1 to 20 ms; where nothing is left, at once.
func settle(look func() []process, limit time.Duration) []process {
	deadline := time.Now().Add(limit)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		left := look()
		if len(left) == 0 || !time.Now().Before(deadline) {
			return left
		}
		<-time.After(pause)
	}
}

// identity tells processes apart for good, where a pid can be used again.
type identity struct {
	pid   int
	start uint64 // since the system's start, in its ticks; zero where it is not known
}

// process is one process of a command, under the name that it had when it was
// seen.
type process struct {
	identity
	name string
}

// without returns the processes of ps that are not in gone.
func without(ps, gone []process) []process {
	var kept []process
	for _, p := range ps {
		found := false
		for _, g := range gone {
			found = found || p.identity == g.identity
		}
		if !found {
			kept = append(kept, p)
		}
	}
	return kept
}

// rest is what the shell left behind when it exited or was ended.
type rest struct {
	ended     []process
	survivors []process // could not be ended
	strays    []process // see tree.strays
	unwatched error     // why there is no watchdog
}

// notes describes the rest for people and models.
func (r rest) notes() (notes []string) {
	for _, part := range []struct {
		ps   []process
		what string
	}{
		{r.ended, "left in the background and ended"},
		{r.survivors, "impossible to end and may still be running"},
		{r.strays, "cut loose from the command and may still be running"},
	} {
		if len(part.ps) > 0 {
			notes = append(notes, fmt.Sprintf("%s %s: %s", count(len(part.ps)), part.what, list(part.ps)))
		}
	}
	if r.unwatched != nil {
		notes = append(notes, fmt.Sprintf("no watchdog could be started (%v): should this program be killed, its commands go on", r.unwatched))
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
		names = append(names, fmt.Sprintf("%s (pid %d)", p.name, p.pid))
	}
	return strings.Join(names, ", ")
}
