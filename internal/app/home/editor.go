package home

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lookpath"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// EditorCommand returns the user's editor: the setting, $VISUAL, $EDITOR, or the
// system's default.
func EditorCommand(setting string) []string {
	for _, line := range []string{setting, os.Getenv("VISUAL"), os.Getenv("EDITOR")} {
		if argv := strings.Fields(line); len(argv) > 0 {
			return argv
		}
	}
	if runtime.GOOS == "windows" {
		return []string{"notepad"}
	}
	return []string{"vi"}
}

// External prepares to edit text with the user's editor, which programs finds, in a file
// below dir, the agent's home. The file's name ends in name, so that the editor recognizes
// the language; env is the editor's environment. The function returns the edited text and
// removes the file.
func External(dir string, programs lookpath.Search, argv, env []string, name, text string) (*exec.Cmd, func() (string, error), error) {
	program, err := programs.Find(argv[0])
	if err != nil {
		return nil, nil, fmt.Errorf("the editor %s cannot be found (%w); set EDITOR, or: agent config set editor NAME", argv[0], err)
	}
	file := filepath.Join(dir, "edit", rand.Text()[:8], filepath.Base(filepath.FromSlash(name)))
	if err := statefile.Write(file, []byte(text)); err != nil {
		return nil, nil, err
	}
	cmd := lookpath.Command(program, append(slices.Clone(argv[1:]), file)...)
	cmd.Env = programs.Environ(env)
	return cmd, func() (string, error) {
		data, err := os.ReadFile(file)
		if err != nil {
			err = fmt.Errorf("read what the editor saved: %w", err)
		}
		// editors leave backups next to the file
		return string(data), errors.Join(err, statefile.RemoveTree(filepath.Dir(file)))
	}, nil
}
