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

// group accounts for a tree of processes with a control group of its own, including
// processes that left the tree. If none can be made, dir is empty and only processes
// that the program waited for count.
type group struct {
	dir   string
	usage string // the file that holds the CPU time
}

// newGroup makes a group in either version of control groups.
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

// wrap returns argv run by a shell that first joins the group. That costs the floor and
// the program some milliseconds each.
func (g group) wrap(argv []string) []string {
	if g.dir == "" {
		return argv
	}
	return append([]string{"/bin/sh", "-c", "echo $$ >" + g.dir + `/cgroup.procs; exec "$@"`, "sh"}, argv...)
}

// cpu returns the milliseconds used by the group so far; false without a group.
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
