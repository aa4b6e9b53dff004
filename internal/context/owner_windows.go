package projectctx

import "io/fs"

// ours reports whether the file belongs to the user who runs this program. Here
// the system's shared folders cannot be written by others.
func ours(fs.FileInfo) bool { return true }
