package main

import "golang.org/x/sys/unix"

// keepPrivate closes this process to other programs of the same user: its
// environment and its memory, where keys are, cannot be read through /proc, by
// the commands that it runs least of all, and no core file is written. What it
// starts is open again. A debugger needs root to attach.
func keepPrivate() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
