package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"github.com/bb2d0cf4/agent/internal/lookpath"
)

// createNewProcessGroup shields the command from Ctrl+C in our console.
const createNewProcessGroup = 0x200

// lineName is the variable in which bash gets its line: how it takes a command line of
// Windows apart is its own affair.
const lineName = "AGENT_LINE"

// shellCommand returns the command for a line, which needs lineVariables. cmd.exe parses its own command
// line, so the line is passed unchanged, in the quotes that /s removes.
func shellCommand(line, dir string) *exec.Cmd {
	sh := In(dir)
	attr := &syscall.SysProcAttr{HideWindow: true, CreationFlags: createNewProcessGroup}
	if !sh.Posix {
		cmd := lookpath.Command(sh.Path)
		attr.CmdLine = `cmd.exe /d /s /c "` + line + `"`
		cmd.SysProcAttr = attr
		return cmd
	}
	cmd := lookpath.Command(sh.Path, "--noprofile", "--norc", "-c", `eval "unset `+lineName+`;$`+lineName+`"`)
	cmd.SysProcAttr = attr
	return cmd
}

// lineVariables returns the variables that shellCommand needs.
func lineVariables(line, dir string) []string {
	if !In(dir).Posix {
		return nil
	}
	return []string{lineName + "=" + line}
}

// codePage returns that in which programs write to the console, or write like them.
func codePage() uint32 {
	if page, err := windows.GetConsoleOutputCP(); err == nil {
		return page
	}
	page, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetOEMCP").Call()
	return uint32(page)
}

// argvOf returns nil: no arguments alone run a line.
func argvOf(_, _ string) []string { return nil }

func interpreterIn(string) Interpreter { return interpreter() }

// interpreter returns the bash of Git for Windows, or without one cmd.exe.
var interpreter = sync.OnceValue(func() Interpreter {
	for _, path := range bashOfGit(gitFolders(), os.Getenv) {
		if info, err := os.Stat(path); err == nil && filepath.IsAbs(path) && info.Mode().IsRegular() {
			return Interpreter{Name: "bash", Path: path, Posix: true, most: maxVariable}
		}
	}
	return cmdExe(lookpath.System("cmd.exe"))
})

// gitFolders returns the folders that Git for Windows has noted in the registry.
func gitFolders() (dirs []string) {
	for _, root := range []registry.Key{registry.LOCAL_MACHINE, registry.CURRENT_USER} {
		key, err := registry.OpenKey(root, `SOFTWARE\GitForWindows`, registry.QUERY_VALUE)
		if err != nil {
			continue // it is not installed there
		}
		if dir, _, err := key.GetStringValue("InstallPath"); err == nil {
			dirs = append(dirs, dir)
		}
		_ = key.Close() // it was only read
	}
	return dirs
}

// hasWatchdog is false: another process cannot find the processes of a command.
const hasWatchdog = false

// outlive does nothing: there is no watchdog that could.
func outlive() {}

func pipeName(*os.File) string { return "-" }

func (w *watched) left() []process { return nil }

func exitCode(state *os.ProcessState) int { return state.ExitCode() }

// adoptOrphans does nothing: a process whose parent has ended belongs to nobody, and is not found.
func adoptOrphans() {}

// birth is unknown on this system.
func birth(int) uint64 { return 0 }

// left returns the shell while it runs. Processes that it has left are not known.
func (t *tree) left() []process {
	if t.hasExited() {
		return nil
	}
	return []process{{identity: identity{pid: t.shell.pid}, name: interpreter().Name}}
}

// strays returns none: they cannot be found.
func (t *tree) strays() []process { return nil }

// terminate kills at once: a process without a window cannot be asked to end.
func terminate(shell int, ps []process) { kill(shell, ps) }

// kill ends the shell and the children that can be traced to it now; those whose parent has ended go on.
func kill(_ int, ps []process) {
	for _, p := range ps {
		_ = lookpath.Command(lookpath.System("taskkill.exe"), "/T", "/F", "/PID", strconv.Itoa(p.pid)).Run() // on failure, it is named as a survivor
	}
}
