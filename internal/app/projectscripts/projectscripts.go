// Package projectscripts finds the programs of a project that a command names, so that a
// person's yes counts for them as they were. It guarantees that it reads no file outside the
// project, and that a program that appears later changes the digest.
package projectscripts

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/regularfile"
)

// maxSize bounds a program, in bytes.
const maxSize = 4 << 20

// folderNames are the ways in which a command names the project's folder.
var folderNames = []string{
	"{CLAUDE_PROJECT_DIR}/", "CLAUDE_PROJECT_DIR/", "{AGENT_PROJECT_DIR}/", "AGENT_PROJECT_DIR/", "/",
}

// Find returns the programs in the project that commands name, relative to its folder dir,
// which root has open.
func Find(root *os.Root, dir string, commands []string) (list []string) {
	for _, command := range commands {
		for _, word := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`;|&()<>=$", r) }) {
			word = strings.TrimPrefix(word, dir+"/")
			for _, name := range folderNames {
				word = strings.TrimPrefix(word, name)
			}
			name := filepath.Clean(filepath.FromSlash(word))
			if word == "" || slices.Contains(list, name) || !filepath.IsLocal(name) {
				continue
			}
			if isScript(root, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// extensions are those of scripts, which an interpreter runs without a mode that allows it.
var extensions = []string{".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".pl", ".php", ".lua", ".ps1", ".bat", ".cmd"}

// isScript reports whether a file looks like a program: a command may also name the files that
// it reads and writes.
func isScript(root *os.Root, name string) bool {
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if info.Mode()&0o111 != 0 || slices.Contains(extensions, strings.ToLower(filepath.Ext(name))) {
		return true
	}
	data, err := regularfile.ReadIn(root, name, maxSize)
	return err != nil || strings.HasPrefix(string(data), "#!")
}

// Look returns the programs in the project's folder dir that commands name, and a digest of them.
func Look(dir string, commands []string) (names []string, digest string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, "", err
	}
	defer root.Close()
	sum := sha256.New()
	names = Find(root, dir, commands)
	Digest(sum, root, names)
	return names, hex.EncodeToString(sum.Sum(nil)), nil
}

// Digest writes the names and the present content of programs to a hash.
func Digest(sum io.Writer, root *os.Root, names []string) {
	note := func(text string) { _, _ = fmt.Fprintf(sum, "%d %s ", len(text), text) } // a hash takes everything
	for _, name := range names {
		note(name)
		data, err := regularfile.ReadIn(root, name, maxSize)
		if err != nil {
			note("unreadable: " + err.Error())
		}
		note(string(data))
	}
}
