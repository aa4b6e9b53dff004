package footprint

import (
	"fmt"
	"io/fs"
	"syscall"
)

// changeTime returns when the system changed a file last, which no program can choose.
func changeTime(info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint(st.Ctimespec.Sec, st.Ctimespec.Nsec)
	}
	return ""
}
