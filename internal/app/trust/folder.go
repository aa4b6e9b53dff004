package trust

import "os"

// Folder identifies a folder beyond its path: one that was deleted and made anew, or
// mounted or moved to the same path, is not the same. The zero Folder is unknown: the
// path alone counts.
type Folder struct {
	Device uint64 `json:"device,omitzero"`
	Inode  uint64 `json:"inode,omitzero"`
	Born   int64  `json:"born,omitzero"` // in nanoseconds since 1970; 0 if unknown
}

// is reports whether both are the same folder. An inode is soon used again, so the time
// of birth counts too; with it, the device does not: many file systems get another
// number when the system restarts.
func (f Folder) is(other Folder) bool {
	if f.Born != 0 && other.Born != 0 {
		return f.Inode == other.Inode && f.Born == other.Born
	}
	return f.Inode == other.Inode && f.Device == other.Device
}

// folderOf identifies an open folder.
func folderOf(root *os.Root) Folder {
	file, err := root.Open(".")
	if err != nil {
		return Folder{}
	}
	defer file.Close()
	return identify(file)
}

// folderAt identifies the folder at a path.
func folderAt(dir string) Folder {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Folder{}
	}
	defer root.Close()
	return folderOf(root)
}
