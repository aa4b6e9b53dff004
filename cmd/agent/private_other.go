//go:build !linux

package main

// keepPrivate does nothing: this system has no such switch.
func keepPrivate() error { return nil }
