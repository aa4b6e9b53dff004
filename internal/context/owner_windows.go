package modelcontext

import "io/fs"

// ours reports whether the file belongs to the user who runs this program. On Windows
// others cannot write to the system's shared folders.
func ours(fs.FileInfo) bool { return true }
