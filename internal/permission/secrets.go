package permission

import (
	_ "embed" // the list of files with keys
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// secretsJSON is the list of files that may contain passwords or keys.
//
//go:embed secrets.json
var secretsJSON []byte

// secretFiles lists files that may contain passwords or keys. All names in it are folded.
type secretFiles struct {
	Anywhere group    `json:"anywhere"`
	JSON     []string `json:"json"` // words in the names of JSON files
	Home     group    `json:"home"` // in a person's home; in a project, the same names hold none
}

var secrets = sync.OnceValue(func() secretFiles { return list[secretFiles](secretsJSON) })

// NeverRead explains why the file at the absolute path must not be read, whatever the
// answer; "" means that it may be asked about. The files of a process expose its memory
// and environment, and so the keys of this program. home is the program's own folder,
// which may be in the workspace.
func NeverRead(abs, home string) string {
	if home != "" && fold(abs) == fold(filepath.Join(home, "credentials.json")) {
		return "it holds the keys of this program"
	}
	rest, ok := strings.CutPrefix(filepath.ToSlash(abs), "/proc/")
	pid, _, inside := strings.Cut(rest, "/")
	if ok && inside && pid != "" && strings.Trim(pid, "0123456789") == "" {
		return "it exposes the memory and environment of a process, and the keys in them"
	}
	return ""
}

// Secret reports whether the path, or a folder in it, may contain passwords or keys.
func Secret(name string) bool {
	name = fold(name)
	home, parts := secrets().Home, strings.Split(name, "/")
	return holdKeys(name) || home.holds(name) || slices.Contains(home.Folders, parts[len(parts)-1]) || strings.HasPrefix(path.Base(name), "id_")
}

// MayHoldKeys reports whether the file with a path, whose content is not at hand, may hold keys: usually, or as
// settings or a certificate that do so only sometimes.
func MayHoldKeys(name string) bool {
	base := path.Base(fold(name))
	return Secret(name) || settings()[base] != nil || isPublic(base)
}

// secretInside is Secret for the file at the absolute path abs of the workspace, which is
// called name there. It knows the folders and files of a project that only look like places
// for keys. home is the program's own folder.
func secretInside(name, abs, home string) bool {
	name, abs, home = fold(name), fold(abs), fold(home)
	if home != "" && strings.HasPrefix(abs, home+"/") {
		return true // conversations, and settings with headers
	}
	return holdKeys(name) || inHome(abs)
}

// identities are the names of private keys of SSH, in order.
var identities = []string{"id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "id_rsa"}

// templates are the endings of files that show how one with keys looks.
var templates = []string{".example", ".sample", ".template", ".dist", ".defaults"}

// MayBeSecret reports whether a pattern for the names of files is about some that may contain passwords or keys. One
// that is about most files, or about all of a type that rarely holds any, such as *.json, is not.
func MayBeSecret(pattern string) bool {
	pattern = strings.ToLower(pattern)
	if slices.Contains(templates, path.Ext(pattern)) {
		return false
	}
	list := secrets().Anywhere
	return slices.ContainsFunc(slices.Concat(list.Folders, list.Files), func(name string) bool {
		if name[0] == '.' && pattern[0] == '.' {
			return matches(pattern, name, 2)
		}
		return len(stemOf(pattern)) >= 4 && matches(pattern, name, 4)
	}) || slices.ContainsFunc(identities, func(name string) bool {
		return matches(pattern, name, 3)
	}) || slices.ContainsFunc(list.Prefixes, func(begin string) bool {
		return matches(pattern, begin, 2) || matches(pattern, begin+".local", 2)
	}) || slices.ContainsFunc(list.Suffixes, func(end string) bool {
		return matches(pattern, "server"+end, 2) && strings.Trim(pattern, "*?.") != ""
	})
}

// matches reports whether a pattern with at least so many letters matches name.
func matches(pattern, name string, letters int) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil && len(strings.Trim(pattern, "*?[]")) >= letters
}

// stemOf returns the letters of a pattern without its extension.
func stemOf(pattern string) string {
	if i := strings.LastIndexByte(pattern, '.'); i > 0 {
		pattern = pattern[:i]
	}
	return strings.Trim(pattern, "*?[]")
}

// holdKeys reports whether the file with the folded path may contain passwords or keys, wherever it is.
func holdKeys(name string) bool {
	base := path.Base(name)
	switch {
	case strings.HasPrefix(base, "id_"):
		_, key := slices.BinarySearch(identities, base)
		return key
	case slices.Contains(templates, path.Ext(base)),
		slices.Contains([]string{"example.env", "sample.env", "template.env", "process.env", "import.meta.env"}, base):
		return false // a template, or an expression of a program
	case isPublic(base):
		return false
	case path.Ext(base) == ".json" && slices.ContainsFunc(secrets().JSON, func(word string) bool { return strings.Contains(base, word) }):
		return true
	}
	if secrets().Anywhere.holds(name) {
		return true
	}
	return slices.Contains(secrets().Anywhere.Folders, base) // the folder itself
}

// publicPEM matches the names of files for public keys, certificates and requests for such.
var publicPEM = lazyregexp.New(`^(.*(pub|public|pub(lic)?[-_.]?key|csr|certs?|certificates?|chain|crl|bundle|dhparams?)|(.*[-_.])?(ca|roots?))[-_.0-9]*\.pem$`)

// isPublic reports whether the folded name of a file is one for keys that everybody may know.
func isPublic(base string) bool {
	if !strings.HasSuffix(base, ".pem") || !publicPEM.MatchString(base) {
		return false
	}
	rest := strings.NewReplacer("pubkey", "", "pub-key", "", "pub_key", "", "publickey", "", "public-key", "", "public_key", "").Replace(base)
	return !slices.ContainsFunc([]string{"key", "priv", "secret"}, func(word string) bool { return strings.Contains(rest, word) })
}

// inHome reports whether the file with the folded absolute path is one that holds keys in a
// person's home.
func inHome(abs string) bool {
	own, _ := os.UserHomeDir() // without one, the usual places count
	own = fold(own)
	home := secrets().Home
	for at := strings.LastIndexByte(abs, '/'); at > 0; at = strings.LastIndexByte(abs[:at], '/') {
		dir, rel := abs[:at], abs[at+1:]
		_, above := cutVolume(dir[:max(0, strings.LastIndexByte(dir, '/'))])
		if dir != own && dir != "/root" && above != "/home" && above != "/users" && above != "/var/home" {
			continue
		}
		first, _, _ := strings.Cut(rel, "/")
		if slices.Contains(home.Folders, first) || slices.Contains(home.Files, rel) {
			return true
		}
	}
	return false
}
