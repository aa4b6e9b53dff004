//go:build unix

package modelcontext

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether the file belongs to the user who runs this program.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
