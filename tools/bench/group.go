//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// group accounts for a whole tree of processes, also for those that left it, by a
// control group of its own. Where none can be made, dir is empty and only what
// the program waited for is counted.
type group struct {
	dir   string
	usage string // the file that holds the CPU time
}

// newGroup makes a group, of whichever version of control groups there is.
func newGroup() group {
	name := fmt.Sprintf("bench-%d-%d", os.Getpid(), time.Now().UnixNano())
	for _, g := range []group{
		{"/sys/fs/cgroup/cpuacct/" + name, "cpuacct.usage"},
		{"/sys/fs/cgroup/" + name, "cpu.stat"},
	} {
		if os.Mkdir(g.dir, 0o755) != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(g.dir, g.usage)); err == nil {
			return g
		}
		_ = os.Remove(g.dir) // not a cgroup
	}
	return group{}
}

// wrap returns argv behind a shell that joins the group first. That costs some
// milliseconds, for the floor as for the program.
func (g group) wrap(argv []string) []string {
	if g.dir == "" {
		return argv
	}
	return append([]string{"/bin/sh", "-c", "echo $$ >" + g.dir + `/cgroup.procs; exec "$@"`, "sh"}, argv...)
}

// cpu returns the milliseconds used by the group so far; false if it has none.
func (g group) cpu() (float64, bool) {
	text, err := os.ReadFile(filepath.Join(g.dir, g.usage))
	if g.dir == "" || err != nil {
		return 0, false
	}
	value, unit := strings.TrimSpace(string(text)), 1e6 // nanoseconds
	if rest, ok := strings.CutPrefix(value, "usage_usec "); ok {
		value, unit = strings.Fields(rest)[0], 1e3
	}
	n, err := strconv.ParseFloat(value, 64)
	return n / unit, err == nil
}

func (g group) close() error {
	if g.dir == "" {
		return nil
	}
	return os.Remove(g.dir)
}
