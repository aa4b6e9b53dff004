//go:build !linux

package search

import (
	"io/fs"
	"time"
)

// changedAt returns the time of the last change of a file, which nobody can set; zero, as
// it is unknown here.
func changedAt(fs.FileInfo) time.Time { return time.Time{} }
