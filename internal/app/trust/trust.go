// Package trust decides whether a project's files may configure the program. It
// guarantees that only a person's answer makes a folder trusted, that the answer is for
// the folder itself, at its real path, and its content at that time, that nothing inside
// a folder influences it, that the configuration and commands in use are, byte for byte,
// those that were read for the question, and that their number and size are limited.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/regularfile"
)

// Limits of the files in use.
const (
	maxFiles   = 200      // commands
	maxEntries = 2000     // entries of one folder, and of all of them
	maxDepth   = 4        // nested folders
	maxSize    = 64 << 10 // bytes of a file
)

// ConfigFile and Commands are the files that a project may bring, below its folder.
const (
	ConfigFile = ".agent/config.yaml"
	Commands   = ".agent/commands"
)

// Found lists the files with which a project would configure the program.
type Found struct {
	Dir     string   // without symbolic links
	Folder  Folder   // the one at Dir
	Config  []byte   // content of ConfigFile; nil without one
	Command []string // paths of the files below Commands
	Left    []string // files left out, with reasons; not sanitized
	Hash    string   // of Config and the commands

	// Instructions lists the files whose text would go to the model. Look leaves it empty.
	Instructions []Instruction

	texts map[string][]byte
}

// Texts returns the content of the files of Command at the time of Look.
func (f Found) Texts() map[string][]byte { return f.texts }

// Empty reports whether there is nothing to trust.
func (f Found) Empty() bool { return !f.Configures() && len(f.Instructions) == 0 }

// Configures reports whether the project would configure the program.
func (f Found) Configures() bool { return f.Config != nil || len(f.Command) > 0 }

// Look reads a project's files without interpreting them. dir must not contain symbolic
// links; home is the agent's own folder, which does not count as a project's.
func Look(dir, home string) (Found, error) {
	f := Found{Dir: dir}
	project, err := os.OpenRoot(dir)
	if err != nil {
		return f, err
	}
	defer project.Close()
	f.Folder = folderOf(project)
	if regularfile.Same(filepath.Join(dir, ".agent"), home) {
		return f, nil
	}
	hash := sha256.New()
	note := func(name string, data []byte) {
		fmt.Fprintf(hash, "%d %s %d ", len(name), name, len(data))
		hash.Write(data)
	}
	if f.Config, err = read(project, ConfigFile); err != nil {
		return f, fmt.Errorf("%s: %w", ConfigFile, err)
	}
	if f.Config != nil {
		note(ConfigFile, f.Config)
	}
	w := walk{project: project, note: note, found: &f}
	w.folder("", 0)
	f.Hash = hex.EncodeToString(hash.Sum(nil))
	return f, nil
}

// read returns the content of a file within the size limit, nil if it does not exist.
func read(project *os.Root, name string) ([]byte, error) {
	data, err := regularfile.ReadIn(project, name, maxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, regularfile.ErrNotRegular):
		return nil, errors.New("not a file")
	case errors.Is(err, regularfile.ErrTooLarge):
		return nil, fmt.Errorf("larger than %d KiB", maxSize>>10)
	case err != nil:
		return nil, err
	}
	return append([]byte{}, data...), nil
}
