package statefile

import "os"

// Rename moves the file at from to the path to, in the same folder, and replaces a file
// there. A process that has it open continues with the moved file, except on Windows, where Rename
// fails then (see Busy).
func Rename(from, to string) error { return Patiently(func() error { return os.Rename(from, to) }) }
