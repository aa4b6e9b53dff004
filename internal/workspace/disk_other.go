//go:build unix && !darwin

package workspace

// asOnDisk returns path: a file is found by the name that it has, and by no other. Folders that
// ignore case, which Linux can make, are not known here: a file in one has as many paths as spellings.
func asOnDisk(path string) (string, error) { return path, nil }
