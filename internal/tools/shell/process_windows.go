package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// hasWatchdog is false: the system ends the processes of a command when this program ends.
const hasWatchdog = false

// outlive does nothing: there is no watchdog.
func outlive() {}

func pipeName(*os.File) string { return "-" }

func (w *watched) left() []process { return nil }

func exitCode(state *os.ProcessState) int { return state.ExitCode() }

// adoptOrphans does nothing: processes stay in the group of their command, with or without a parent.
func adoptOrphans() {}

// birth returns when pid was started, zero if it is gone.
func birth(pid int) uint64 {
	p, err := inspect(pid)
	if err != nil {
		return 0
	}
	return p.start
}

// inspect describes a running process.
func inspect(pid int) (process, error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return process{}, err
	}
	defer func() { _ = windows.CloseHandle(h) }() // our own, closed once
	var start, exit, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &start, &exit, &kernel, &user); err != nil {
		return process{}, err
	}
	var path [windows.MAX_LONG_PATH]uint16
	size := uint32(len(path))
	if err := windows.QueryFullProcessImageName(h, 0, &path[0], &size); err != nil {
		return process{}, err
	}
	return process{
		identity: identity{pid: pid, start: uint64(start.Nanoseconds())},
		name:     printable(filepath.Base(windows.UTF16ToString(path[:size]))),
		spent:    ticks(kernel) + ticks(user),
	}, nil
}

// ticks returns a length of time, which is not a date.
func ticks(t windows.Filetime) uint64 { return uint64(t.HighDateTime)<<32 | uint64(t.LowDateTime) }

// consoleHost is the program that the system itself starts beside one that needs a console, and ends with it.
const consoleHost = "conhost.exe"

// left returns the processes of the command.
func (t *tree) left() (ps []process) {
	g, ok := t.family.cage(t.shell.pid).(group)
	if !ok {
		return nil
	}
	pids, err := g.Processes()
	if err != nil {
		return []process{{name: "processes that the system does not list"}}
	}
	for _, pid := range pids {
		p, err := inspect(pid)
		if err != nil || strings.EqualFold(p.name, consoleHost) || p.identity == t.shell && t.hasExited() {
			continue // it has ended, or ends with the others
		}
		ps = append(ps, p)
	}
	return ps
}

// strays returns none: no process leaves its group.
func (t *tree) strays() []process { return nil }

// terminate kills at once: a process without a window cannot be asked to end.
func terminate(shell int, ps []process) { kill(shell, ps) }

// kill ends the processes.
func kill(_ int, ps []process) {
	for _, p := range ps {
		if birth(p.pid) != p.start {
			continue // it has ended, and its number may be another's
		}
		if h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(p.pid)); err == nil {
			_ = windows.TerminateProcess(h, 1) // on failure, it is named as a survivor
			_ = windows.CloseHandle(h)
		}
	}
}
