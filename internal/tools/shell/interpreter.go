package shell

import (
	"fmt"
	"strings"
)

// Interpreter is the shell that runs a line.
type Interpreter struct {
	Name string // for people and the model
	Path string
	// Posix means that it takes a line apart as a POSIX shell does, as permission rules do. Another one
	// may find other commands in a line than rules do: a person has to look at each.
	Posix bool
	most  int // bytes of a line that it takes
}

// In returns the shell that runs lines in the folder dir. On Windows it is the same as long as
// the program runs, so that it is the one by which a line was judged.
func In(dir string) Interpreter { return interpreterIn(dir) }

// The limits of lines in bytes.
const (
	maxArgument = 128<<10 - 1 // Linux accepts no longer argument
	maxVariable = 32_000      // Windows accepts 32,767 characters of two bytes
	maxCmdLine  = 8_000       // cmd.exe accepts 8,191 characters with its own
)

// cmdExe returns the shell of Windows that is always there.
func cmdExe(path string) Interpreter {
	return Interpreter{Name: "cmd.exe", Path: path, most: maxCmdLine}
}

// Check explains why the shell would not run all of line.
func (i Interpreter) Check(line string) error {
	switch {
	case strings.Contains(line, "\x00"):
		return fmt.Errorf("the command contains a NUL byte, which no shell accepts")
	case !i.Posix && strings.ContainsAny(line, "\r\n"):
		return fmt.Errorf("%s runs only the first of several lines: join them with &&, or write them to a .bat file and run that", i.Name)
	case len(line) > i.most:
		return fmt.Errorf("the command is %d bytes long and the shell takes %d: put it into a file and run that", len(line), i.most)
	}
	return nil
}

// bashOfGit returns where Git for Windows puts its bash, given the folders that it names itself and
// a variable of the environment. Other programs called bash run lines in another system.
func bashOfGit(installed []string, env func(name string) string) (paths []string) {
	for _, v := range []string{"ProgramFiles", "ProgramW6432", "ProgramFiles(x86)"} {
		if dir := env(v); dir != "" {
			installed = append(installed, dir+`\Git`)
		}
	}
	if dir := env("LOCALAPPDATA"); dir != "" {
		installed = append(installed, dir+`\Programs\Git`)
	}
	for _, dir := range installed {
		paths = append(paths, strings.TrimRight(dir, `\`)+`\bin\bash.exe`)
	}
	return paths
}
