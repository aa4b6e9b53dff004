package permission

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// maxSettings is the size up to which settings are read, in bytes.
const maxSettings = 1 << 20

var gitSettings = []string{".gitconfig", ".gitmodules", "config", "config.worktree"}

// settings are the kinds of files that hold a key only sometimes, by their folded names.
var settings = sync.OnceValue(func() map[string]func(text []byte) bool {
	kinds := map[string]func([]byte) bool{}
	for _, name := range gitSettings {
		kinds[name] = gitCredential.Match
	}
	for _, name := range []string{
		".mcp.json", "mcp.json", "mcp_config.json", "mcp_settings.json", "cline_mcp_settings.json", ".yarnrc.yml", ".yarnrc", "bunfig.toml",
		"pip.conf", "pip.ini", ".condarc", "gradle.properties", "nuget.config", "settings.xml", "config.toml",
	} {
		kinds[name] = holdsLiteral
	}
	return kinds
})

// gitCredential matches a setting of git that holds a key: an address with a password, or with
// a user's name that is long enough to be a token, a header, or a value that is named so.
var gitCredential = lazyregexp.New(`(?im)[a-z]://[^\s/@:"']*:[^\s/@"']+@|` +
	`https?://[^\s/@:"']{20,}@|` +
	`^[^\n#;=]*(pass|token|secret|extraheader)[^\n=]*=[ \t]*\S|` +
	`=.*\b(password|authorization)[=:]`)

// namedKey matches a value in settings of other programs whose name, or whose place in an address, is that
// of a key: after a colon or an equals sign, as the next argument or word, as an element or attribute of
// XML, and before the @ of an address. Some of these values are no secrets.
var namedKey = lazyregexp.New(`(?im)(?:token|secret|passw(?:or)?d|passphrase|cookie|authorization|auth[-_]?ident|_auth|[-_](?:key|pwd)|apikey|accesskey|[?&]key)` +
	`(?:(?:["']?[ \t]*[:=][ \t]*|["'][ \t]*,[ \t]*|>|"[ \t]+value[ \t]*=[ \t]*)` +
	`(?:"([^"\n]*)"|'([^'\n]*)'|((?:[^\s"',;&<>#\[\]{}]|\$\{)[^\n"',;&<>#]*))|["']?[ \t]+"([^"\n]*)")|` +
	`[a-z]://[^\s/@:"']*:([^\s/@"']+)@`)

// reference matches a part of a value that is replaced by another: a variable, but for its default, or the
// scheme of a header.
var reference = lazyregexp.New(`(?i)\$\{\w*:?-|\$?\{[^}]*\}|\}|\$[a-z_]\w*|%\w+%|\b(?:bearer|basic|token)\b`)

// placeholder matches a value that is to be replaced, or is the name of one.
var placeholder = lazyregexp.New(`(?i)^(?:<.*>|\.{3}|\*+|x{3,}|(?:your|my|insert|replace|example|placeholder|todo)\b.*|your[-_].*|change[-_ ]?(?:me|it).*|op://.*|true|false|null|none|\d{1,4})$`)

// holdsLiteral reports whether settings hold a key itself, and not only the name of a variable.
func holdsLiteral(text []byte) bool {
	for _, m := range namedKey.FindAllStringSubmatch(string(text), -1) {
		value := strings.Trim(reference.ReplaceAllString(strings.Join(m[1:], ""), ""), "\"' \t")
		if value != "" && !placeholder.MatchString(value) {
			return true
		}
	}
	return false
}

// UsuallyHolds is the answer of Keys about a file whose name tells it.
const UsuallyHolds = "may contain passwords or keys"

// Keys explains why a file of the workspace is read only after a question, as the predicate
// of a sentence about it: it may contain passwords or keys, or does so as settings of git. "" means
// neither. name is relative to the workspace, abs absolute; home is the program's own folder.
func Keys(name, abs, home string) string {
	if secretInside(name, abs, home) {
		return UsuallyHolds
	}
	return Credentials(abs)
}

// MoveReveals explains which keys are read without a question once the file at from, which
// is called name in the workspace, is moved to the path to, called toName; "" means none.
// home is the program's own folder.
func MoveReveals(name, from, toName, to, home string) string {
	if secretInside(toName, to, home) || holdsKey(from, to) {
		return ""
	}
	return Keys(name, from, home)
}

// Credentials explains that the file at the absolute path has the name of settings, of git or another
// program, or of public keys, and a password, token or private key in it, as the predicate of a sentence about it. Without them, "",
// such a file is read as any other.
func Credentials(abs string) string {
	switch {
	case !holdsKey(abs, abs):
		return ""
	case slices.Contains(gitSettings, fold(filepath.Base(abs))):
		return "holds a password or token of git"
	case isPublic(fold(filepath.Base(abs))):
		return "holds a private key"
	}
	return "holds a password or token"
}

// holdsKey reports whether a key is in the file at abs, or may be, if it is read as settings with the name
// of the path as.
func holdsKey(abs, as string) bool {
	name := fold(filepath.Base(as))
	holds, ok := settings()[name]
	switch {
	case isPublic(name):
		holds = func(text []byte) bool { return bytes.Contains(text, []byte("PRIVATE KEY")) }
	case !ok:
		return false
	}
	info, err := os.Stat(abs)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(abs)
	if err != nil {
		return false // a read of it fails too
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	return err != nil || len(text) > maxSettings || holds(text)
}

// KeyFile tells by its name whether a file of the workspace may contain passwords or keys, or does so
// sometimes, which Credentials knows. name, abs and home are as in Keys.
func KeyFile(name, abs, home string) (usually, sometimes bool) {
	base := fold(filepath.Base(abs))
	_, sometimes = settings()[base]
	return secretInside(name, abs, home), sometimes || isPublic(base)
}

// WithoutGitCredentials returns settings of git without the lines with a credential.
func WithoutGitCredentials(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !gitCredential.MatchString(line) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
