package safecmd

import (
	"io/fs"
	"syscall"
)

// changed returns the time of the last change of a file or its properties.
func changed(info fs.FileInfo) any {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ctim
	}
	return nil
}
