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

// ancestors returns the process ids of those who started this process, as far as
// the system tells them.
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

// parentIn reads the parent out of a line of /proc: the name of the program,
// which may hold anything, ends at the last parenthesis.
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
