//go:build !linux

package initwatch

// keepPrivate does nothing: this system has no such switch.
func keepPrivate() {}
