//go:build !linux

package main

// keepPrivate does nothing: this system has no such switch, so the user's other programs can read the
// environment and memory of this one.
func keepPrivate() error { return nil }
