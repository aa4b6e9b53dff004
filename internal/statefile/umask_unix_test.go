//go:build unix

package statefile

import "syscall"

func setUmask(mask int) int { return syscall.Umask(mask) }
