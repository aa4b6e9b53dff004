package footprint

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// openFolder opens a folder, which others can still move and remove: os.Open forbids them that.
func openFolder(path string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES, share, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// changeTime returns "": Windows does not tell when a file changed apart from its content.
func changeTime(fs.FileInfo) string { return "" }
