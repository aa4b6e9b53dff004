//go:build !linux

package child

import "os/exec"

// tie does nothing: only Linux kills a child with its parent. It goes on until its input ends.
func tie(*exec.Cmd) {}

// limit does nothing: only Linux can limit another process. A child can take all memory.
func limit(int, uint64) {}
