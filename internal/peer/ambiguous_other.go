//go:build !linux

package peer

// ambiguous returns nil: each user has a number of its own.
func ambiguous() error { return nil }
