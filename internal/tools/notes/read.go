package notes

import (
	"path"
	"path/filepath"
	"strings"
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
func OnRead(abs string, folder bool) (notes []string, force bool) {
	if folder {
		notes = append(notes, "This is a folder: all that is in it may be read from then on.")
	}
	if secret(abs) {
		notes = append(notes, "What is here often holds keys or passwords, which would be sent to the model.")
		force = true
	}
	return notes, force
}

// secret says whether keys are usually kept at the path, or below it.
func secret(abs string) bool {
	parts := strings.Split(fold(filepath.ToSlash(abs)), "/")
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

// fold makes names equal that a file system may take for the same.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }
