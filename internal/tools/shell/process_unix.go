//go:build unix

package shell

import (
	"os"
	"os/exec"
	ossignal "os/signal"
	"syscall"

	"github.com/bb2d0cf4/agent/internal/lookpath"
)

// shells lists the usual paths of bash. PATH comes last.
var shells = [...]string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash"}

// shellCommand returns the command for a line, in a new session: without a terminal, and
// with /dev/null as input. It runs in dir, or in the current folder.
func shellCommand(line, dir string) *exec.Cmd {
	argv := argvOf(line, dir)
	cmd := lookpath.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// codePage returns 0: consoles have no code pages.
func codePage() uint32 { return 0 }

// lineVariables returns none: the line is an argument.
func lineVariables(string, string) []string { return nil }

// argvOf returns the program and the arguments that run a line.
func argvOf(line, dir string) []string {
	sh := In(dir)
	if sh.Name == "bash" {
		return []string{sh.Path, "--noprofile", "--norc", "-c", line}
	}
	return []string{sh.Path, "-c", line}
}

// interpreterIn returns bash, or without one sh.
func interpreterIn(dir string) Interpreter {
	if bash := findBash(dir); bash != "" {
		return Interpreter{Name: "bash", Path: bash, Posix: true, most: maxArgument}
	}
	return Interpreter{Name: "sh", Path: "/bin/sh", Posix: true, most: maxArgument}
}

// hasWatchdog is true: a watchdog can find the processes of commands.
const hasWatchdog = true

// outlive makes this process ignore requests to end.
func outlive() { ossignal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP) }

func findBash(dir string) string {
	for _, path := range shells {
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path
		}
	}
	path, err := lookpath.Search{Dirs: []string{dir}}.Find("bash")
	if err != nil {
		return ""
	}
	return path
}

// exitCode returns the status as shells count it, or -1 if somebody else waited for the
// shell.
func exitCode(state *os.ProcessState) int {
	if state == nil {
		return -1
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}

// signalGroup signals a process group. It fails if the group is empty.
func signalGroup(group int, sig syscall.Signal) error {
	return syscall.Kill(-group, sig)
}

// terminate asks the group and ps to end, including stopped processes.
func terminate(group int, ps []process) {
	signal(group, ps, syscall.SIGTERM)
	signal(group, ps, syscall.SIGCONT)
}

// kill ends the group and ps.
func kill(group int, ps []process) { signal(group, ps, syscall.SIGKILL) }
