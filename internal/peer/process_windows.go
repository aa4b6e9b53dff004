package peer

import (
	"errors"

	"golang.org/x/sys/windows"
)

// Process reports who runs a process.
func Process(pid int) Owner {
	if pid <= 0 {
		return Unknown
	}
	p, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	switch {
	case errors.Is(err, windows.ERROR_INVALID_PARAMETER):
		return Nobody
	case errors.Is(err, windows.ERROR_ACCESS_DENIED):
		return Another
	case err != nil:
		return Unknown
	}
	defer windows.CloseHandle(p)
	var code uint32
	const running = 259 // STILL_ACTIVE
	if windows.GetExitCodeProcess(p, &code) == nil && code != running {
		return Nobody
	}
	switch ownerOf(uint32(pid)) {
	case "":
		return Unknown
	case Self():
		return Mine
	}
	return Another
}
