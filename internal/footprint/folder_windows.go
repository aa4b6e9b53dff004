package footprint

import "io/fs"

// changeTime returns "": Windows does not tell when a file changed apart from its content.
func changeTime(fs.FileInfo) string { return "" }
