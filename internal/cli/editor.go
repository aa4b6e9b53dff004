package cli

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

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// editorCommand is the user's own editor: the setting, $VISUAL, $EDITOR, or what
// every system has.
func editorCommand(cfg config.Config) []string {
	for _, line := range []string{cfg.Interface.Editor, os.Getenv("VISUAL"), os.Getenv("EDITOR")} {
		if argv := strings.Fields(line); len(argv) > 0 {
			return argv
		}
	}
	if runtime.GOOS == "windows" {
		return []string{"notepad"}
	}
	return []string{"vi"}
}

// external hands text to the user's editor in a file of our own home. The name
// of the file ends as name does, so that the editor knows the language.
func external(cfg config.Config, name, text string) (*exec.Cmd, func() (string, error), error) {
	argv := editorCommand(cfg)
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, nil, fmt.Errorf("the editor %s cannot be found; set EDITOR, or: agent config set editor NAME", argv[0])
	}
	file := filepath.Join(cfg.Home, "edit", rand.Text()[:8], filepath.Base(filepath.FromSlash(name)))
	if err := statefile.Write(file, []byte(text)); err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(program, append(slices.Clone(argv[1:]), file)...)
	cmd.Env = withoutSecrets(os.Environ(), cfg.SecretEnv())
	return cmd, func() (string, error) {
		data, err := os.ReadFile(file)
		if err != nil {
			err = fmt.Errorf("read what the editor saved: %w", err)
		}
		return string(data), errors.Join(err, statefile.Remove(file), statefile.Remove(filepath.Dir(file)))
	}, nil
}

// withoutSecrets returns env less the variables that hold keys.
func withoutSecrets(env, names []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name)
	})
}
