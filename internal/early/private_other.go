//go:build !linux

package early

// keepPrivate does nothing: this system has no such switch, so the user's other programs can read the
// environment.
func keepPrivate() {}
