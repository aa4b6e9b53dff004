package langserver

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// capabilities is all that servers need to know of this program.
const capabilities = `{
	"general": {"positionEncodings": ["utf-8", "utf-16"]},
	"window": {"workDoneProgress": true},
	"workspace": {
		"configuration": true, "workspaceFolders": true, "symbol": {},
		"workspaceEdit": {"documentChanges": true, "resourceOperations": ["create", "rename", "delete"]}, "didChangeWatchedFiles": {"dynamicRegistration": true}
	},
	"textDocument": {
		"synchronization": {}, "definition": {}, "references": {}, "rename": {},
		"documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
		"publishDiagnostics": {"versionSupport": true}, "diagnostic": {},
		"codeAction": {
			"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor", "source"]}},
			"isPreferredSupport": true, "disabledSupport": true, "dataSupport": true, "resolveSupport": {"properties": ["edit"]}
		}
	}
}`

// position is a place in a text. Character counts units of the server's encoding.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI      string `json:"uri"`
	Range    span   `json:"range"`
	LineText string `json:"lineText"` // of our protocol with editors
}

// locations is a location, several, or links to some.
type locations []location

func (l *locations) UnmarshalJSON(data []byte) error {
	type link struct {
		location
		TargetURI   string `json:"targetUri"`
		TargetRange span   `json:"targetSelectionRange"`
	}
	var all []link
	if len(data) > 0 && data[0] == '{' {
		data = slices.Concat([]byte("["), data, []byte("]"))
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	*l = nil
	for _, each := range all {
		if each.TargetURI != "" {
			each.location = location{each.TargetURI, each.TargetRange, each.LineText}
		}
		*l = append(*l, each.location)
	}
	return nil
}

// documentSymbol is a name of an outline, or, of an older server, one with a location.
type documentSymbol struct {
	Name      string           `json:"name"`
	Kind      int              `json:"kind"`
	Selection *span            `json:"selectionRange"`
	Location  location         `json:"location"`
	Container string           `json:"containerName"`
	Children  []documentSymbol `json:"children"`
}

type workspaceSymbol struct {
	Name      string   `json:"name"`
	Kind      int      `json:"kind"`
	Container string   `json:"containerName"`
	Location  location `json:"location"`
}

// flatten appends the names of an outline.
func flatten(all []Symbol, path, in string, found []documentSymbol) []Symbol {
	for _, each := range found {
		at := each.Location.Range
		if each.Selection != nil {
			at = *each.Selection
		}
		outer := in
		if outer == "" {
			outer = each.Container
		}
		all = append(all, Symbol{Location{Path: path, Line: at.Start.Line + 1}, each.Name, kindOf(each.Kind), outer})
		all = flatten(all, path, each.Name, each.Children)
	}
	return all
}

// kinds are the protocol's kinds of symbols, from 1.
var kinds = []string{
	"file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum", "interface", "function",
	"variable", "constant", "string", "number", "boolean", "array", "object", "key", "null", "enum member", "struct", "event", "operator", "type parameter",
}

func kindOf(kind int) string {
	if kind < 1 || kind > len(kinds) {
		return "name"
	}
	return kinds[kind-1]
}

// uriOf returns the URI of a file.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/…
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// pathOf returns the path of a file of this machine by its URI. A name that could not be shown as it is names none.
func pathOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" || u.Host != "" && u.Host != "localhost" || u.RawQuery != "" || u.Fragment != "" || sanitize.Line(u.Path) != u.Path {
		return "", fmt.Errorf("%.200q names no file of this machine", uri)
	}
	path := u.Path
	if len(path) > 2 && path[2] == ':' { // /C:/…
		path = path[1:]
	}
	return filepath.Clean(filepath.FromSlash(path)), nil
}
