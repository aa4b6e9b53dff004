package search

import (
	"io/fs"
	"syscall"
	"time"
)

// changedAt returns the time of the last change of a file, which nobody can set; zero if
// unknown.
func changedAt(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix())
	}
	return time.Time{}
}
