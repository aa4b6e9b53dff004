package shell

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/bb2d0cf4/agent/internal/lookpath"
)

// createNewProcessGroup shields the command from Ctrl+C in our console.
const createNewProcessGroup = 0x200

// shellCommand returns the command for a line. cmd parses its own command line, so the
// line is passed unchanged, in the quotes that /s removes.
func shellCommand(line, _ string) *exec.Cmd {
	cmd := lookpath.Command(lookpath.System("cmd.exe"))
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CmdLine: `cmd.exe /d /s /c "` + line + `"`, HideWindow: true, CreationFlags: createNewProcessGroup,
	}
	return cmd
}

// hasWatchdog is false: another process cannot find the processes of a command.
const hasWatchdog = false

func apart(*exec.Cmd) {}

func outlive() {}

func pipeName(*os.File) string { return "-" }

func (w *watched) left() []process { return nil }

func exitCode(state *os.ProcessState) int { return state.ExitCode() }

// adoptOrphans does nothing: Windows has no orphans.
func adoptOrphans() {}

// birth is unknown on this system.
func birth(int) uint64 { return 0 }

// left returns the shell while it runs.
func (t *tree) left() []process {
	if t.hasExited() {
		return nil
	}
	return []process{{identity: identity{pid: t.shell.pid}, name: "cmd.exe"}}
}

// strays returns none: they cannot be found.
func (t *tree) strays() []process { return nil }

// terminate kills at once: a process without a window cannot be asked to end.
func terminate(shell int, ps []process) { kill(shell, ps) }

// kill ends the shell and its children.
func kill(_ int, ps []process) {
	for _, p := range ps {
		_ = lookpath.Command(lookpath.System("taskkill.exe"), "/T", "/F", "/PID", strconv.Itoa(p.pid)).Run() // on failure, it is named as a survivor
	}
}
