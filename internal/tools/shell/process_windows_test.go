package shell_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// A process that a command leaves is ended and named, also if its parent has ended.
func TestLeftProcesses(t *testing.T) {
	self := executable(t)
	res := runLine(t, shell.Options{Line: `"` + self + `" ` + asLeaving})
	pid, err := strconv.Atoi(strings.TrimSpace(res.Output))
	if err != nil || res.ExitCode != 0 {
		t.Fatalf("%+v", res)
	}
	want := fmt.Sprintf("1 process was left in the background and ended: %s (pid %d)", filepath.Base(self), pid)
	if len(res.Notes) != 1 || res.Notes[0] != want {
		t.Errorf("notes %q", res.Notes)
	}
	expectGone(t, pid)
}

// A command that takes too long is ended with all that it has started.
func TestTimeoutEndsAll(t *testing.T) {
	self := executable(t)
	res := runLine(t, shell.Options{Line: `"` + self + `" ` + asLeaving + ` & "` + self + `" ` + asLeft, Timeout: 10 * time.Second})
	if !res.TimedOut || len(res.Notes) > 0 {
		t.Errorf("%+v", res)
	}
	pids := strings.Fields(res.Output)
	if len(pids) != 2 {
		t.Errorf("output %q", res.Output)
	}
	for _, text := range pids {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		expectGone(t, pid)
	}
}

func expectGone(t *testing.T, pid int) {
	t.Helper()
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return // nobody has a handle of it any more
	}
	defer windows.CloseHandle(h)
	if state, err := windows.WaitForSingleObject(h, 0); err != nil || state != windows.WAIT_OBJECT_0 {
		t.Errorf("process %d still runs", pid)
	}
}
