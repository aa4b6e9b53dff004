package client

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"unicode"

	strict "github.com/go-json-experiment/json"
)

// Events are the handlers of an editor's notifications. They are called in order, from
// the reading goroutine: they must not block. Each may be nil. They may be called
// before Connect returns.
type Events struct {
	// Selection receives the zero value when the selection was cleared.
	Selection   func(Selection)
	Mention     func(Mention)
	Draft       func(DraftChange)
	Diagnostics func(paths []string) // empty: any may have changed
	Tools       func()               // the list of tools changed: see Client.Refresh
}

// Mention asks to mention a file in the prompt. Lines are 1-based and inclusive, 0 for
// the whole file.
type Mention struct {
	Path               string // absolute; a folder ends in a separator
	StartLine, EndLine int
}

// DraftChange reports that an open diff was edited by hand, or appeared on or left the
// editor's screen.
type DraftChange struct {
	DiffID         string
	Hidden         bool // it waits in the list of pending reviews
	Edited         bool
	Added, Removed int // lines, compared with the proposal
	// Text is the text of an edited diff; nil unless DiffRequest.KeepsDrafts asked for it.
	Text *string
}

// listener turns notifications into events.
type listener struct {
	events   Events
	folders  []string
	oneBased bool
	runs     *runs
}

func (l *listener) take(method string, params json.RawMessage) {
	e := l.events
	switch {
	case method == "selection_changed" && e.Selection != nil:
		e.Selection(readSelection(params, l.oneBased))
	case method == "at_mentioned" && e.Mention != nil:
		if m, ok := l.mention(params); ok {
			e.Mention(m)
		}
	case method == "diff_changed" && e.Draft != nil:
		if d, ok := readDraftChange(params); ok {
			e.Draft(d)
		}
	case method == "diagnostics_changed" && e.Diagnostics != nil:
		e.Diagnostics(changedPaths(params))
	case method == "terminal_output":
		l.runs.take(params)
	case method == "notifications/tools/list_changed" && e.Tools != nil:
		e.Tools()
	}
}

// mention reads at_mentioned. Lines are 0-based in every editor in use; a path
// may be relative to the editor's own folder.
func (l *listener) mention(params json.RawMessage) (Mention, bool) {
	var p struct {
		Path  string   `json:"filePath"`
		Start *float64 `json:"lineStart"`
		End   *float64 `json:"lineEnd"`
	}
	if strict.Unmarshal(params, &p) != nil || p.Path == "" || strings.ContainsFunc(p.Path, unicode.IsControl) {
		return Mention{}, false
	}
	path := fromURI(p.Path)
	if path == "" {
		if len(l.folders) == 0 || strings.Contains(p.Path, "://") {
			return Mention{}, false
		}
		path = filepath.Join(l.folders[0], p.Path)
	}
	folder := strings.HasSuffix(p.Path, "/") || strings.HasSuffix(p.Path, string(filepath.Separator))
	m := Mention{Path: filepath.Clean(path)}
	if folder {
		m.Path += string(filepath.Separator)
	}
	if p.Start != nil && *p.Start >= 0 {
		m.StartLine = whole(*p.Start) + 1
		m.EndLine = m.StartLine
		if p.End != nil && *p.End >= 0 {
			m.EndLine = whole(*p.End) + 1
		}
		m.StartLine, m.EndLine = min(m.StartLine, m.EndLine), max(m.StartLine, m.EndLine)
	}
	return m, true
}

func readDraftChange(params json.RawMessage) (DraftChange, bool) {
	var p struct {
		ID      string  `json:"diffId"`
		State   string  `json:"state"`
		Edited  bool    `json:"edited"`
		Added   int     `json:"added"`
		Removed int     `json:"removed"`
		Text    *string `json:"text"`
	}
	if strict.Unmarshal(params, &p) != nil || p.ID == "" {
		return DraftChange{}, false
	}
	if !p.Edited {
		p.Text = nil
	}
	return DraftChange{Text: p.Text, DiffID: p.ID, Hidden: p.State == "hidden", Edited: p.Edited, Added: max(0, p.Added), Removed: max(0, p.Removed)}, true
}

func changedPaths(params json.RawMessage) []string {
	var p struct {
		URI  string   `json:"uri"`
		URIs []string `json:"uris"`
	}
	if strict.Unmarshal(params, &p) != nil {
		return nil
	}
	var paths []string
	for _, uri := range append(p.URIs, p.URI) {
		if path := fromURI(uri); path != "" && len(paths) < maxTabs {
			paths = append(paths, path)
		}
	}
	return paths
}
