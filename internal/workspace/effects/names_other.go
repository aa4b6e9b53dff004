//go:build !linux

package effects

// timesNames reports whether the times of a folder change with its names; false if that is
// unknown.
func (d dir) timesNames() bool { return false }
