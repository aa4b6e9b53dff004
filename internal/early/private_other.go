//go:build !linux

package early

// keepPrivate does nothing: this system has no such switch.
func keepPrivate() {}
