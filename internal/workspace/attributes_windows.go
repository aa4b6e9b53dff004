package workspace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"
)

// copyAttributes gives to the streams, the marks and the rights of from. The rights come last: they may
// forbid the rest.
func copyAttributes(to, from *os.File) error {
	if err := copyStreams(to, from); err != nil {
		return fmt.Errorf("its further streams cannot be kept: %w", err)
	}
	if err := copyMarks(to, from); err != nil {
		return fmt.Errorf("its attributes cannot be kept: %w", err)
	}
	if err := copyRights(to, from); err != nil {
		return fmt.Errorf("its access list cannot be kept: %w", err)
	}
	return nil
}

// keptMarks are those that programs set. Read-only is a mode, archive means that a file has changed, and
// the rest is how the file system stores it.
const keptMarks = windows.FILE_ATTRIBUTE_HIDDEN | windows.FILE_ATTRIBUTE_SYSTEM | windows.FILE_ATTRIBUTE_NOT_CONTENT_INDEXED

func copyMarks(to, from *os.File) error {
	have, err := aboutFile(to)
	if err != nil {
		return err
	}
	want, err := aboutFile(from)
	if err != nil || have.FileAttributes&keptMarks == want.FileAttributes&keptMarks {
		return err
	}
	var info struct { // FILE_BASIC_INFO; a time that is zero stays
		times      [4]int64
		attributes uint32
		_          uint32
	}
	info.attributes = have.FileAttributes&^keptMarks | want.FileAttributes&keptMarks
	if info.attributes == 0 {
		info.attributes = windows.FILE_ATTRIBUTE_NORMAL
	}
	return windows.SetFileInformationByHandle(windows.Handle(to.Fd()), windows.FileBasicInfo, (*byte)(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
}

// noSuchThing reports whether a file system, or Wine, lacks the feature that was asked for.
func noSuchThing(err error) bool {
	for _, e := range []error{windows.ERROR_INVALID_FUNCTION, windows.ERROR_NOT_SUPPORTED, windows.ERROR_CALL_NOT_IMPLEMENTED, windows.ERROR_INVALID_PARAMETER} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// copyRights gives to the access list of from to the last entry, with those that from got from a folder.
func copyRights(to, from *os.File) error {
	want, err := rightsOf(from)
	if err != nil || want == nil {
		return err
	}
	have, err := rightsOf(to)
	if err != nil || have != nil && have.String() == want.String() {
		return err
	}
	control, _, err := want.Control()
	if err != nil {
		return err
	}
	what := windows.SECURITY_INFORMATION(windows.DACL_SECURITY_INFORMATION | windows.UNPROTECTED_DACL_SECURITY_INFORMATION)
	if control&windows.SE_DACL_PROTECTED != 0 {
		what = windows.DACL_SECURITY_INFORMATION | windows.PROTECTED_DACL_SECURITY_INFORMATION
	}
	if control&windows.SE_DACL_AUTO_INHERITED != 0 { // else the system drops this mark
		if err := want.SetControl(windows.SE_DACL_AUTO_INHERIT_REQ, windows.SE_DACL_AUTO_INHERIT_REQ); err != nil {
			return err
		}
	}
	again, err := reopen(to, windows.READ_CONTROL|windows.WRITE_DAC)
	if err != nil {
		return err
	}
	return errors.Join(windows.SetKernelObjectSecurity(again, what, want), windows.CloseHandle(again))
}

// rightsOf returns the access list of a file; nil on a file system without them.
func rightsOf(f *os.File) (*windows.SECURITY_DESCRIPTOR, error) {
	list, err := windows.GetSecurityInfo(windows.Handle(f.Fd()), windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if noSuchThing(err) {
		return nil, nil
	}
	return list, err
}

var reOpenFile = windows.NewLazySystemDLL("kernel32.dll").NewProc("ReOpenFile")

// reopen opens the file of f, whatever its name is by now, with other rights.
func reopen(f *os.File, access uint32) (windows.Handle, error) {
	h, _, err := reOpenFile.Call(f.Fd(), uintptr(access), windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, 0)
	if windows.Handle(h) == windows.InvalidHandle {
		return 0, err
	}
	return windows.Handle(h), nil
}

// copyStreams copies the further streams of from, such as the mark of a download.
func copyStreams(to, from *os.File) error {
	all, err := streamsOf(from)
	if err != nil || len(all) == 0 {
		return err
	}
	source, err := finalPath(from)
	if err != nil {
		return err
	}
	target, err := finalPath(to)
	if err != nil {
		return err
	}
	for _, name := range all {
		if err := copyStream(target+name, source+name); err != nil {
			return err
		}
	}
	return nil
}

func copyStream(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close(), in.Close())
}

// streamsOf returns the names of the further streams of a file, such as :Zone.Identifier:$DATA.
func streamsOf(f *os.File) ([]string, error) {
	buf := make([]byte, 1024)
	for {
		err := windows.GetFileInformationByHandleEx(windows.Handle(f.Fd()), windows.FileStreamInfo, &buf[0], uint32(len(buf)))
		switch {
		case errors.Is(err, windows.ERROR_MORE_DATA), errors.Is(err, windows.ERROR_INSUFFICIENT_BUFFER):
			buf = make([]byte, 4*len(buf))
			continue
		case noSuchThing(err), errors.Is(err, windows.ERROR_HANDLE_EOF):
			return nil, nil
		case err != nil:
			return nil, err
		}
		return streamsIn(buf)
	}
}

// streamsIn returns the names in a list of FILE_STREAM_INFO, but for the one of the file's content.
func streamsIn(list []byte) (names []string, err error) {
	const head = 24 // the offset of the next entry, the length of the name, two sizes
	for {
		if len(list) < head {
			return nil, errors.New("the list of its streams is cut off")
		}
		next, size := binary.LittleEndian.Uint32(list), binary.LittleEndian.Uint32(list[4:])
		if uint64(size) > uint64(len(list)-head) || uint64(next) > uint64(len(list)) {
			return nil, errors.New("the list of its streams is cut off")
		}
		var name []uint16
		for at := head; at+1 < head+int(size); at += 2 {
			name = append(name, binary.LittleEndian.Uint16(list[at:]))
		}
		if n := string(utf16.Decode(name)); n != "" && !strings.EqualFold(n, "::$DATA") {
			names = append(names, n)
		}
		if next == 0 {
			return names, nil
		}
		list = list[next:]
	}
}

// finalPath returns the path that an open file has now.
func finalPath(f *os.File) (string, error) {
	buf := make([]uint16, windows.MAX_PATH)
	for {
		n, err := windows.GetFinalPathNameByHandle(windows.Handle(f.Fd()), &buf[0], uint32(len(buf)), 0)
		if err != nil {
			return "", err
		}
		if int(n) < len(buf) {
			return windows.UTF16ToString(buf[:n]), nil
		}
		buf = make([]uint16, n+1)
	}
}
