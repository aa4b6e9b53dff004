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
	"unicode"

	"github.com/bb2d0cf4/agent/internal/lookpath"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// EditorCommand returns the user's editor: the setting, $VISUAL, $EDITOR, or the
// system's default.
func EditorCommand(setting string) []string {
	for _, line := range []string{setting, os.Getenv("VISUAL"), os.Getenv("EDITOR")} {
		if argv := words(line, runtime.GOOS == "windows"); len(argv) > 0 {
			return argv
		}
	}
	if runtime.GOOS == "windows" {
		return []string{"notepad"}
	}
	return []string{"vi"}
}

// words splits a line into the words of a command. Quotes keep blanks together and, except on Windows,
// where it separates folders, a backslash does. The path of a file at the beginning is one word, too.
func words(line string, windows bool) (all []string) {
	all, line = pathFirst(strings.TrimSpace(line))
	var word strings.Builder
	var quote rune
	begun, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			escaped = false
			word.WriteRune(r)
		case r == '\\' && !windows && quote != '\'':
			begun, escaped = true, true
		case r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'' && !windows:
			begun, quote = true, r
		case !unicode.IsSpace(r):
			begun = true
			word.WriteRune(r)
		case begun:
			all = append(all, word.String())
			word.Reset()
			begun = false
		}
	}
	if begun {
		all = append(all, word.String())
	}
	return all
}

// pathFirst returns the longest path of a file that line begins with, and the rest.
func pathFirst(line string) (path []string, rest string) {
	for end := len(line); end > 0; end = strings.LastIndexFunc(line[:end], unicode.IsSpace) {
		if path := strings.TrimSpace(line[:end]); isFile(path) {
			return []string{path}, line[end:]
		}
	}
	return nil, line
}

// isFile reports whether path is the whole path of a file.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return filepath.IsAbs(path) && err == nil && info.Mode().IsRegular()
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
