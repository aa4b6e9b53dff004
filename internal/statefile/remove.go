package statefile

import "os"

// Remove deletes the file at path. A missing file is no error.
func Remove(path string) error { return remove(path) }

// RemoveTree deletes the folder dir and everything in it. A missing folder is no error.
func RemoveTree(dir string) error { return os.RemoveAll(dir) }

// Truncate cuts the file at path to size bytes.
func Truncate(path string, size int64) error { return os.Truncate(path, size) }
