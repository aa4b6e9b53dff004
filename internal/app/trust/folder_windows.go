package trust

import (
	"os"

	"golang.org/x/sys/windows"
)

// identify uses the volume's serial number and the index of the file.
func identify(file *os.File) Folder {
	var s windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(file.Fd()), &s); err != nil {
		return Folder{}
	}
	return Folder{
		Device: uint64(s.VolumeSerialNumber), Inode: uint64(s.FileIndexHigh)<<32 | uint64(s.FileIndexLow), Born: s.CreationTime.Nanoseconds(),
	}
}
