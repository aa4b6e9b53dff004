package confirm

import (
	"errors"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Document is a text in Markdown that the model wants to act on. An approval changes nothing
// by itself; it covers the text as the reviewer left it.
type Document struct {
	Text string
}

// File returns d as a new file in dir, for surfaces that show files. Nobody writes it.
func (d *Document) File(dir string) workspace.Change {
	const name = "plan.md"
	return workspace.Change{File: workspace.File{Name: name, Path: filepath.Join(dir, name)}, After: d.Text}
}

func (d *Document) facts(Request) Facts {
	return Facts{Title: "Carry out the plan and ask for each edit", Kind: "document", Text: d.Text, Drafts: []workspace.Change{d.File("")}}
}

func (*Document) fits(v Verdict) error {
	if v.Mode == "" {
		return errors.New("the reviewer did not choose a permission mode for the document")
	}
	v.Mode, v.Texts = "", nil
	return v.once()
}
