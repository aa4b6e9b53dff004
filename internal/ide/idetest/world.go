package idetest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
)

// World is the state of the editor. Its methods may be called concurrently.
type World struct {
	mu        sync.Mutex
	documents map[string]Document
	findings  []Finding
	folders   []string
	selection *Selected
	settled   bool
}

// Document is an open file.
type Document struct {
	Text          string
	Dirty, Active bool
	Encoding      string // VS Code's name; only our own extension reports it
}

// Finding is a diagnostic; Line and Column are 1-based.
type Finding struct {
	Path         string
	Line, Column int
	Severity     string
	Message      string
}

// Shut closes a document. Nobody is told.
func (w *World) Shut(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.documents, path)
}

// Selected is the selection; lines are 1-based and inclusive.
type Selected struct {
	Path, Text         string
	StartLine, EndLine int
}

func newWorld() *World { return &World{documents: map[string]Document{}, settled: true} }

// Open opens or changes a file.
func (w *World) Open(path string, d Document) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.documents[path] = d
}

// Find replaces the diagnostics; settled reports whether they are complete.
func (w *World) Find(settled bool, all ...Finding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.findings, w.settled = all, settled
}

// Select replaces the selection; nil: none.
func (w *World) Select(s *Selected) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.selection = s
}

// SetFolders replaces the workspace's folders.
func (w *World) SetFolders(folders ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.folders = folders
}

func (w *World) document(path string) Document {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.documents[path]
}

func (w *World) call(d Dialect, req Request) Reply {
	var p struct {
		Path string `json:"filePath"`
		URI  string `json:"uri"`
		Text bool   `json:"includeText"`
	}
	_ = json.Unmarshal(req.Params, &p)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch req.Method {
	case "getDiagnostics":
		return w.diagnostics(d, p.URI)
	case "getCurrentSelection", "getLatestSelection":
		return w.selected(d)
	case "getOpenEditors":
		return w.tabs(d)
	case "getWorkspaceFolders":
		return w.listFolders(d)
	case "checkDocumentDirty":
		return w.dirty(d, p.Path, p.Text)
	case "saveDocument":
		return w.save(d, p.Path)
	}
	return Text("Opened file: " + p.Path)
}

func (w *World) diagnostics(d Dialect, uri string) Reply {
	base := 1
	if d.OneBased {
		base = 0
	}
	byFile := map[string][]any{}
	flat := []any{}
	for _, f := range w.findings {
		at := map[string]any{"line": f.Line - base, "character": f.Column - base}
		one := map[string]any{
			"message": f.Message, "severity": f.Severity, "source": "test", "range": map[string]any{"start": at, "end": at},
		}
		where := fileURL(f.Path)
		if uri != "" && uri != where {
			continue
		}
		if d.Flat {
			one["uri"] = where
			flat = append(flat, one)
		}
		byFile[where] = append(byFile[where], one)
	}
	if d.Flat {
		return JSON(flat)
	}
	nested := []any{}
	for where, some := range byFile {
		nested = append(nested, map[string]any{"uri": where, "diagnostics": some})
	}
	data, err := json.Marshal(nested)
	if err != nil {
		return Refusef(-32603, "%v", err)
	}
	if !d.Ours {
		return Text(string(data))
	}
	if w.settled {
		return Text(string(data), `{"settled":true,"waitedMs":1,"omitted":0}`)
	}
	return Text(string(data), `{"settled":false,"waitedMs":1,"omitted":0}`)
}

func (w *World) selected(d Dialect) Reply {
	s := w.selection
	switch {
	case s == nil && d.Flat:
		return Text("null")
	case s == nil:
		return JSON(map[string]any{"success": false, "message": "No selection available"})
	}
	base := 1
	if d.OneBased {
		base = 0
	}
	return JSON(map[string]any{
		"success": true, "text": s.Text, "filePath": s.Path, "fileUrl": fileURL(s.Path),
		"selection": map[string]any{
			"start":   map[string]any{"line": s.StartLine - base, "character": 0},
			"end":     map[string]any{"line": s.EndLine - base, "character": 1},
			"isEmpty": s.Text == "",
		},
	})
}

func (w *World) tabs(d Dialect) Reply {
	all := []any{}
	for path, doc := range w.documents {
		all = append(all, map[string]any{
			"uri": fileURL(path), "fileName": path, "label": filepath.Base(path), "isActive": doc.Active, "isDirty": doc.Dirty,
			"lineCount": strings.Count(doc.Text, "\n"),
		})
	}
	if d.Flat {
		return JSON(all)
	}
	return JSON(map[string]any{"tabs": all})
}

func (w *World) listFolders(d Dialect) Reply {
	all := []any{}
	for _, f := range w.folders {
		all = append(all, map[string]any{"name": filepath.Base(f), "uri": fileURL(f), "path": f})
	}
	if d.Flat {
		return JSON(w.folders)
	}
	return JSON(map[string]any{"success": true, "folders": all})
}

func (w *World) dirty(d Dialect, path string, withText bool) Reply {
	doc, open := w.documents[path]
	switch {
	case d.Flat:
		return JSON(map[string]any{"dirty": doc.Dirty})
	case !open:
		return JSON(map[string]any{"success": false, "message": "Document not open: " + path})
	}
	answer := map[string]any{"success": true, "filePath": path, "isDirty": doc.Dirty, "isUntitled": false}
	if d.Ours && doc.Encoding != "" {
		answer["encoding"] = doc.Encoding
	}
	if d.Ours && withText {
		sum := sha256.Sum256([]byte(doc.Text))
		answer["text"], answer["sha256"] = doc.Text, hex.EncodeToString(sum[:])
	}
	return JSON(answer)
}

func (w *World) save(d Dialect, path string) Reply {
	doc, open := w.documents[path]
	if !open {
		return JSON(map[string]any{"success": false, "message": "Document not open: " + path})
	}
	doc.Dirty = false
	w.documents[path] = doc
	if d.Flat {
		return Text("ok")
	}
	return JSON(map[string]any{"success": true, "filePath": path, "saved": true, "message": "saved"})
}

// fileURL returns the address of a file, with nothing in it quoted. That of one on a drive of Windows begins
// with the drive.
func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return "file://" + path
}
