package main

import "golang.org/x/sys/unix"

// keepPrivate closes this process to other programs of the same user, first of all the
// commands that it runs: they cannot read its environment and memory, which hold keys,
// through /proc, and no core file is written. Programs that it starts are not closed. A
// debugger needs root to attach.
func keepPrivate() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
