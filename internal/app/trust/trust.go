// Package trust decides whether the files of a project may set up the program. It
// guarantees that only a person's answer makes a folder trusted, that the answer is
// for the folder's real path and for what was in it then, that nothing inside a
// folder has a say in that, and that the configuration and the commands which are used
// are, byte for byte, what was looked at, of which there is never more than its bounds.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/regular"
)

// What is looked at of a folder. More than that is not used.
const (
	maxFiles   = 200      // commands
	maxEntries = 2000     // files and folders in one folder, and in all of them
	maxDepth   = 4        // folders in folders
	maxSize    = 64 << 10 // bytes of a file
)

// ConfigFile and Commands are what a project may bring, below its folder.
const (
	ConfigFile = ".agent/config.yaml"
	Commands   = ".agent/commands"
)

// Found is what a project would set up.
type Found struct {
	Dir     string   // its real path
	Config  []byte   // of ConfigFile; nil if there is none
	Command []string // the files of Commands, by their path in the folder
	Left    []string // what is left out, and why; not sanitised
	Hash    string   // of all that is used

	texts map[string][]byte
}

// Texts is what the files of Command held when they were looked at.
func (f Found) Texts() map[string][]byte { return f.texts }

// Empty says that there is nothing to be asked about.
func (f Found) Empty() bool { return f.Config == nil && len(f.Command) == 0 }

// Look reads what a project would set up, and interprets none of it. dir is a real
// path; home is the agent's own folder, which is no project's.
func Look(dir, home string) (Found, error) {
	f := Found{Dir: dir}
	if same(filepath.Join(dir, ".agent"), home) {
		return f, nil
	}
	project, err := os.OpenRoot(dir)
	if err != nil {
		return f, err
	}
	defer project.Close()
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

func same(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// read returns a file of modest size; nil if there is none.
func read(project *os.Root, name string) ([]byte, error) {
	data, err := regular.ReadIn(project, name, maxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, regular.ErrNotRegular):
		return nil, errors.New("it is no file")
	case errors.Is(err, regular.ErrTooLarge):
		return nil, fmt.Errorf("it is larger than %d KiB", maxSize>>10)
	case err != nil:
		return nil, err
	}
	return append([]byte{}, data...), nil
}
