package langserver

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/hexsum"
)

// workspaceEdit is a set of changes in one of its two forms.
type workspaceEdit struct {
	Changes         map[string][]textEdit `json:"changes"`
	DocumentChanges []documentChange      `json:"documentChanges"`
}

// documentChange changes the text of a file or, with a kind, the file itself.
type documentChange struct {
	Kind         string     `json:"kind"`
	URI          string     `json:"uri"`
	OldURI       string     `json:"oldUri"`
	NewURI       string     `json:"newUri"`
	TextDocument document   `json:"textDocument"`
	Edits        []textEdit `json:"edits"`
}

// document is a text that is changed. An editor says which text it has, and sends one that is not saved.
type document struct {
	URI    string  `json:"uri"`
	Text   *string `json:"text"`
	SHA256 string  `json:"sha256"` // of its lines, each ended by \n but the last
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

func (e *workspaceEdit) empty() bool { return len(e.Changes)+len(e.DocumentChanges) == 0 }

// errText is the error of an edit of a text other than the one to be changed.
var errText = errors.New("it has another text there than on disk, or than is proposed: try again once that is settled")

// files returns the fate of the files by an edit, in order of their names.
func (e *workspaceEdit) files(c counting, read func(path string) (string, error)) ([]FileEdit, error) {
	f := filing{read: read, counts: c}
	for uri, edits := range e.Changes {
		if err := f.change(document{URI: uri}, edits); err != nil {
			return nil, err
		}
	}
	for _, each := range e.DocumentChanges {
		if err := f.apply(each); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(f.all, func(a, b *FileEdit) int { return strings.Compare(a.Path, b.Path) })
	out := make([]FileEdit, len(f.all))
	for i, each := range f.all {
		out[i] = *each
	}
	return out, nil
}

// filing applies an edit to texts.
type filing struct {
	read   func(path string) (string, error)
	counts counting
	all    []*FileEdit
}

// at returns the edit of the file that is at a path by now; nil before the first.
func (f *filing) at(path string) *FileEdit {
	for _, each := range f.all {
		if !each.Gone && (each.To == path || each.To == "" && each.Path == path) {
			return each
		}
	}
	return nil
}

func (f *filing) apply(c documentChange) error {
	switch c.Kind {
	case "":
		return f.change(c.TextDocument, c.Edits)
	case "create":
		path, err := pathOf(c.URI)
		if err == nil && f.at(path) == nil {
			f.all = append(f.all, &FileEdit{Path: path, Made: true})
		}
		return err
	case "delete":
		each, err := f.taken(document{URI: c.URI})
		if err == nil {
			each.Gone = true
		}
		return err
	case "rename":
		to, err := pathOf(c.NewURI)
		if err != nil {
			return err
		}
		each, err := f.taken(document{URI: c.OldURI})
		if err == nil {
			each.To = to
		}
		return err
	}
	return fmt.Errorf("the server wants to %.40q a file, which is unknown here", c.Kind)
}

// taken returns the edit of a file, which it begins if it is the first.
func (f *filing) taken(d document) (*FileEdit, error) {
	path, err := pathOf(d.URI)
	if err != nil {
		return nil, err
	}
	if each := f.at(path); each != nil {
		return each, nil
	}
	each := &FileEdit{Path: path}
	if d.Text != nil {
		each.Before = *d.Text
	} else if each.Before, err = f.read(path); err != nil {
		return nil, err
	}
	if d.SHA256 != "" && d.SHA256 != linesHash(each.Before) {
		return nil, fmt.Errorf("%s: %w", path, errText)
	}
	each.After = each.Before
	f.all = append(f.all, each)
	return each, nil
}

// change edits a text. All places of one change are those of the text before it.
func (f *filing) change(d document, edits []textEdit) error {
	each, err := f.taken(d)
	if err != nil {
		return err
	}
	if each.After, err = f.counts.edited(each.After, edits); err != nil {
		return fmt.Errorf("%s: %w", each.Path, err)
	}
	return nil
}

// linesHash returns the hash of the lines of a text, whatever ends them.
func linesHash(text string) string {
	return hexsum.Of(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
}

// errOverlap is the error of edits that have no one result.
var errOverlap = errors.New("the server's changes overlap, or lie outside of the text")

// edited returns a text after edits, whose places are those of the text before.
func (c counting) edited(text string, edits []textEdit) (string, error) {
	type change struct {
		from, to int
		text     string
	}
	var all []change
	for _, e := range edits {
		from, ok := c.offsetOf(text, e.Range.Start)
		to, okToo := c.offsetOf(text, e.Range.End)
		if !ok || !okToo || from > to {
			return "", errOverlap
		}
		all = append(all, change{from, to, e.NewText})
	}
	slices.SortStableFunc(all, func(a, b change) int { return a.from - b.from })
	var out strings.Builder
	at := 0
	for _, each := range all {
		if each.from < at {
			return "", errOverlap
		}
		out.WriteString(text[at:each.from] + each.text)
		at = each.to
	}
	return out.String() + text[at:], nil
}
