package statefile

import "os"

// Rename moves the file at from to the path to, in the same folder, in the place of
// what is there. A process that has it open goes on with the moved file.
func Rename(from, to string) error { return os.Rename(from, to) }
