package tools

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/notebook"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// maxNotebook is the size of a notebook of which read_file shows the cells, in bytes.
const maxNotebook = 16 << 20

// cellHelp tells the model how to change cells, once it has read some: the description of a
// tool would be in each first request.
const cellHelp = "To change a cell, call edit_file with cell, its id or number: new_string is its whole new source, or replaces old_string in it. " +
	`cell may also be "code after ID" or "markdown after ID" (0: at the start) with new_string, or "delete ID". Numbers change with each such edit.`

// isNotebook reports whether a file is a notebook by its name.
func isNotebook(name string) bool { return strings.EqualFold(path.Ext(name), ".ipynb") }

// notebook returns the cells of the notebook in s; nil for another file, which is read
// as a text.
func (r reader) notebook(s *workspace.Stream, first, limit int) (*Result, error) {
	if !isNotebook(s.Info.Name) || s.Info.Format.Encoding != workspace.UTF8 {
		return nil, nil
	}
	data, err := s.Head(maxNotebook + 1)
	if err != nil || len(data) > maxNotebook {
		return nil, err
	}
	n, err := notebook.Parse(string(bytes.TrimPrefix(data, []byte("\uFEFF"))))
	if err != nil {
		return nil, nil //nolint:nilerr // it is read as text, which shows why
	}
	if first > max(len(n.Cells), 1) {
		res := toolcall.Failed("%s has no cell %d; cells: %d", s.Info.Name, first, len(n.Cells))
		return &res, nil
	}
	var b strings.Builder
	i := first - 1
	for ; i < len(n.Cells) && i < first-1+limit && b.Len() < readText; i++ {
		b.WriteString(n.Format(i))
	}
	fmt.Fprintf(&b, "--- a notebook (%s) of %d cells", cmp.Or(sanitize.Line(n.Language), "unknown language"), len(n.Cells))
	if i < len(n.Cells) {
		fmt.Fprintf(&b, "; shown: %d-%d; continue with offset %d", first, i, i+1)
	}
	return &Result{ForModel: b.String() + ". " + cellHelp, ForUser: fmt.Sprintf("%d of %d cells", i-first+1, len(n.Cells))}, nil
}

// changeCell makes an edit of a cell.
func (a editFileArgs) changeCell(f workspace.File) (edit.Result, error) {
	if !isNotebook(f.Name) {
		return edit.Result{}, errors.New("it is not a notebook (.ipynb): leave out cell")
	}
	if len(a.Edits) > 0 || a.NewString == nil && !strings.HasPrefix(a.Cell, "delete ") {
		return edit.Result{}, errors.New("with cell, send new_string, and no edits")
	}
	n, err := notebook.Parse(f.Text)
	if err != nil {
		return edit.Result{}, err
	}
	if name, ok := strings.CutPrefix(a.Cell, "delete "); ok {
		i, err := n.Find(name)
		if err != nil {
			return edit.Result{}, err
		}
		return edit.Result{Text: n.Delete(i)}, nil
	}
	if kind, name, ok := strings.Cut(a.Cell, " after "); ok {
		return a.insertCell(n, kind, name)
	}
	i, err := n.Find(a.Cell)
	if err != nil {
		return edit.Result{}, err
	}
	before, eol := n.Cells[i].Source, cellEOL(n, i+1)
	if orDefault(a.OldString, "") == "" {
		return edit.Result{Text: n.Replace(i, cellSource(before, *a.NewString, eol))}, nil
	}
	out, err := replacement{a.OldString, a.NewString, a.ReplaceAll}.make(before, eol)
	if err == nil {
		out.Text, out.Line = n.Replace(i, out.Text), 0
	}
	return out, err
}

// insertCell adds a cell after the named one.
func (a editFileArgs) insertCell(n *notebook.Notebook, kind, name string) (edit.Result, error) {
	at := 0
	if name != "0" {
		i, err := n.Find(name)
		if err != nil {
			return edit.Result{}, err
		}
		at = i + 1
	}
	switch kind {
	case "code", "markdown", "raw":
		return edit.Result{Text: n.Insert(at, kind, cellSource("", *a.NewString, cellEOL(n, at)))}, nil
	}
	return edit.Result{}, fmt.Errorf("a cell is code, markdown or raw, not %q", kind)
}

// cellEOL returns the line ending of the nearest cell that has one, first of those before
// index at, the last of them first; "" without one.
func cellEOL(n *notebook.Notebook, at int) string {
	before := slices.Clone(n.Cells[:at])
	slices.Reverse(before)
	for _, c := range slices.Concat(before, n.Cells[at:]) {
		if strings.ContainsAny(c.Source, "\r\n") {
			return workspace.LineEnding(c.Source)
		}
	}
	return ""
}

// cellSource returns content as the new source of a cell with the source before, with eol
// for added lines. If eol is "", a new source stays as it was sent.
func cellSource(before, content, eol string) string {
	if before == "" && eol != "" {
		return edit.WithEOL(content, eol)
	}
	return edit.Whole(before, content, eol)
}
