package lock

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// maxAncestors bounds the walk up the tree of processes.
const maxAncestors = 32

// ancestors returns the process ids of this process's ancestors, as far as the system
// reports them.
func ancestors() []int {
	pids := []int{os.Getppid()}
	for len(pids) < maxAncestors {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pids[len(pids)-1]))
		if err != nil {
			return pids
		}
		parent := parentIn(stat)
		if parent <= 1 {
			return pids
		}
		pids = append(pids, parent)
	}
	return pids
}

// parentIn reads the parent from a line of /proc/PID/stat. The program's name, which
// may hold any character, ends at the last parenthesis.
func parentIn(stat []byte) int {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	pid, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return pid
}
