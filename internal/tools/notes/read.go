package notes

import (
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/bb2d0cf4/agent/internal/caution"
)

// NeverRead says why the file at the absolute path is not read, whatever the
// answer; it is empty if it may be asked about. The files of a process show its
// memory and its environment, where keys are: this program's first of all. home is
// the program's own folder, which may lie in the one that is worked in.
func NeverRead(abs, home string) string {
	if home != "" && fold(abs) == fold(filepath.Join(home, "credentials.json")) {
		return "it holds the keys of this program"
	}
	rest, ok := strings.CutPrefix(filepath.ToSlash(abs), "/proc/")
	pid, _, inside := strings.Cut(rest, "/")
	if ok && inside && pid != "" && strings.Trim(pid, "0123456789") == "" {
		return "it shows the inside of a process, and the keys that are in it"
	}
	return ""
}

// OnRead returns what a reviewer of a read outside the workspace has to know,
// and whether a person has to look at it whatever was answered before.
func OnRead(abs string, folder bool) (notes []caution.Note, force bool) {
	if folder {
		notes = caution.Notes("This is a folder: what is in it may be read from then on, except where keys are usually kept.")
	}
	if Secret(abs) {
		notes = append(notes, caution.Notes("What is here often holds keys or passwords, which would be sent to the model.")...)
		force = true
	}
	return notes, force
}

// Secret says whether keys are usually kept at the path, or below it.
func Secret(name string) bool {
	parts := strings.Split(fold(filepath.ToSlash(name)), "/")
	for _, dir := range parts {
		switch dir {
		case ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".agent", ".password-store":
			return true
		}
	}
	base := parts[len(parts)-1]
	switch base {
	case ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".pgpass", ".vault-token", "credentials", "shadow":
		return true
	}
	switch path.Ext(base) {
	case ".pem", ".key", ".p12", ".pfx", ".kdbx":
		return true
	}
	return strings.HasPrefix(base, ".env") || strings.HasPrefix(base, "id_")
}

// fold makes names equal that a file system may take for the same: it may ignore case
// and characters that do not show, and Windows what ends a name.
func fold(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, strings.ToLower(strings.ToUpper(name)))
	parts := strings.Split(name, "/")
	for i, part := range parts {
		stem, _, _ := strings.Cut(part, ":") // a stream of the file
		if stem = strings.TrimRight(stem, ". "); stem == "" {
			continue
		}
		if stem == "git~1" { // its short name
			stem = ".git"
		}
		parts[i] = stem
	}
	return strings.Join(parts, "/")
}
