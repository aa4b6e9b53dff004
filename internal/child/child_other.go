//go:build !linux

package child

import "os/exec"

// tie does nothing: only Linux kills a child with its parent.
func tie(*exec.Cmd) {}

// limit does nothing: only Linux can limit another process.
func limit(int, uint64) {}
