//go:build !linux

package main

// keepPrivate does nothing: these systems have no such switch.
func keepPrivate() error { return nil }
