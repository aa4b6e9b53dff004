package client

import (
	"errors"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// located is a value with a file, in one of the forms of editors.
type located struct {
	FilePath string `json:"filePath"`
	Path     string `json:"path"`
	URI      string `json:"uri"`
	FileName string `json:"fileName"`
	File     string `json:"file"`
	FileURL  string `json:"fileUrl"`
}

// path returns the absolute path, or "". raw may also be a plain string.
func (l located) path(raw jsontext.Value) string {
	var bare string
	if strict.Unmarshal(raw, &bare) == nil && bare != "" {
		return fromURI(bare)
	}
	// A URI comes last: some editors do not encode it, so that "%25" would be read as
	// "%".
	for _, s := range []string{l.FilePath, l.Path, l.FileName, l.File, l.URI, l.FileURL} {
		if p := fromURI(s); p != "" {
			return p
		}
	}
	return ""
}

var drive = lazyregexp.New(`^/[A-Za-z]:`)

// fromURI returns the absolute path of a file URI or a plain path. It returns "" for
// anything that is not a file on this machine, or has control characters.
func fromURI(s string) string {
	path := s
	if rest, ok := strings.CutPrefix(s, "file://"); ok {
		path = strings.TrimPrefix(rest, "localhost")
		if decoded, err := url.PathUnescape(path); err == nil && !literal(path, decoded) {
			path = decoded
		}
		if drive.MatchString(path) {
			path = path[1:]
		}
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) || strings.ContainsFunc(path, unicode.IsControl) {
		return ""
	}
	return path
}

// literal reports whether the path of a URI was not encoded: a file of that name
// exists, and none of the decoded name.
func literal(path, decoded string) bool {
	if path == decoded || !filepath.IsAbs(path) {
		return false
	}
	if _, err := os.Lstat(decoded); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, err := os.Lstat(path)
	return err == nil
}

// toURI returns the file URI of an absolute path.
func toURI(path string) string {
	path = filepath.ToSlash(path)
	if runtime.GOOS == "windows" {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// maxDiagnostics is the number of diagnostics accepted.
const maxDiagnostics = 1000

// finding is a diagnostic in one of the forms of editors.
type finding struct {
	located
	Message  string         `json:"message"`
	Severity jsontext.Value `json:"severity"`
	Source   string         `json:"source"`
	Line     *int           `json:"line"`   // 1-based
	Column   *int           `json:"column"` // 1-based
	Range    *struct {
		Start position `json:"start"`
	} `json:"range"`
}

// position counts as the editor does.
type position struct {
	Line float64 `json:"line"`
	Char float64 `json:"character"`
}

// whole returns an integer that an editor wrote in any number format.
func whole(f float64) int { return int(min(max(f, 0), math.MaxInt32)) }

// readDiagnostics reads nested diagnostics (a list of files, each with its own) and
// flat ones. It drops those of other files than the requested one, unless there is only
// one file: then that is the requested file under another name.
func readDiagnostics(text, asked string, oneBased bool) (found []editor.Diagnostic, ok bool) {
	if text == "" || text == "null" {
		return nil, true
	}
	if !jsontext.Value(text).IsValid() {
		return nil, false
	}
	paths := map[string]bool{}
	for _, raw := range list(text, "diagnostics") {
		var file struct {
			located
			Diagnostics []jsontext.Value `json:"diagnostics"`
		}
		_ = strict.Unmarshal(raw, &file) // missing fields stay empty
		path := file.path(nil)
		inFile := file.Diagnostics
		if inFile == nil {
			inFile = []jsontext.Value{raw}
		}
		for _, one := range inFile {
			d, good := readFinding(one, path, asked, oneBased)
			if good && len(found) < maxDiagnostics {
				found = append(found, d)
				paths[d.Path] = true
			}
		}
	}
	if asked == "" {
		return found, true
	}
	var kept []editor.Diagnostic
	for _, d := range found {
		if len(paths) == 1 || d.Path == filepath.Clean(asked) {
			d.Path = asked
			kept = append(kept, d)
		}
	}
	return kept, true
}

func readFinding(raw jsontext.Value, path, asked string, oneBased bool) (editor.Diagnostic, bool) {
	var f finding
	if strict.Unmarshal(raw, &f) != nil || f.Message == "" {
		return editor.Diagnostic{}, false
	}
	if own := f.path(nil); own != "" {
		path = own
	}
	if path == "" {
		path = asked
	}
	d := editor.Diagnostic{
		Path: filepath.Clean(path), Line: 1, Column: 1, Severity: severity(f.Severity),
		Message: clip.Bytes(f.Message, maxWords, "…"), Source: clip.Bytes(f.Source, 100, "…"),
	}
	base := 1
	if oneBased {
		base = 0
	}
	switch {
	case f.Range != nil:
		d.Line, d.Column = max(1, whole(f.Range.Start.Line)+base), max(1, whole(f.Range.Start.Char)+base)
	case f.Line != nil:
		d.Line = max(1, *f.Line)
		if f.Column != nil {
			d.Column = max(1, *f.Column)
		}
	}
	return d, path != ""
}

// severity reads a word in any case, or a number of the language server protocol. An
// unknown severity counts as an error, so that it is not overlooked.
func severity(raw jsontext.Value) editor.Severity {
	var word string
	if strict.Unmarshal(raw, &word) != nil {
		n := 0
		if strict.Unmarshal(raw, &n) == nil && n >= int(editor.SeverityError) && n <= int(editor.SeverityHint) {
			return editor.Severity(n)
		}
		return editor.SeverityError
	}
	switch strings.ToLower(word) {
	case "warning", "warn":
		return editor.SeverityWarning
	case "info", "information", "weak_warning", "weak warning":
		return editor.SeverityInfo
	case "hint", "text_attributes":
		return editor.SeverityHint
	}
	return editor.SeverityError
}
