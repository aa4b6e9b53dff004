package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Bounds of read_file.
const (
	readLines = 2000     // lines, if no limit is given
	readLine  = 2000     // bytes of a line
	readText  = 100_000  // bytes of an answer
	readScan  = 64 << 20 // bytes of the file that are scanned
)

type readFileArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit"`
}

var readFileFacts = Facts{Name: "read_file", Kind: KindRead, Hook: "Read", Names: []string{"Read", "NotebookRead"}, Keys: pathKeys, Mistaken: []string{"view"}, Helper: true}

func readFile(d Deps) Tool {
	params := []args.Param{
		{Name: "path", Kind: args.Text, Required: true},
		{Name: "offset", Kind: args.Integer, Doc: "first line, from 1"},
		{Name: "limit", Kind: args.Integer, Doc: "default 2000"},
	}
	r := reader{d, readFileFacts.Name}
	return newTool(r.tool, params, readFileArgs.title, r.readFile).foresees(func(a readFileArgs) []Foreseen { return r.foresee(a.Path) }).reads()
}

func (a readFileArgs) title() string {
	switch {
	case a.Offset > 1 && a.Limit > 0:
		return fmt.Sprintf("Read %s:%d-%d", a.Path, a.Offset, a.Offset+a.Limit-1)
	case a.Offset > 1:
		return fmt.Sprintf("Read %s:%d-", a.Path, a.Offset)
	}
	return "Read " + a.Path
}

func (r reader) readFile(ctx context.Context, call Call, a readFileArgs) (Result, error) {
	if a.Offset < 0 || a.Limit < 0 {
		return toolcall.Failed("offset and limit must not be negative: leave them out to read from the start."), nil
	}
	var s *workspace.Stream
	refused, err := r.allowed(ctx, call, a.Path, func() (err error) {
		s, err = r.open(a.Path)
		return err
	})
	switch {
	case refused != nil:
		return *refused, nil
	case errors.Is(err, workspace.ErrNotRegular):
		return r.notRegular(a.Path, err), nil
	case err != nil:
		return r.unreadable(ctx, a.Path, err)
	}
	res, err := r.content(ctx, s, a)
	if closeErr := s.Close(); err == nil && closeErr != nil {
		return r.unreadable(ctx, a.Path, closeErr)
	}
	if err != nil {
		return r.unreadable(ctx, a.Path, err)
	}
	if r.Below != nil && !res.Failed {
		res.ForModel += r.Below(ctx, s.Info.Path)
	}
	return res, nil
}

// content returns the image in s, the cells of a notebook, or the lines of its text.
func (r reader) content(ctx context.Context, s *workspace.Stream, a readFileArgs) (Result, error) {
	first, limit := max(a.Offset, 1), cmp.Or(a.Limit, readLines)
	res, err := r.picture(s)
	if res == nil && err == nil {
		res, err = r.notebook(s, first, limit)
	}
	if err != nil {
		return Result{}, err
	}
	if res != nil {
		return *res, nil
	}
	return page(ctx, s, first, limit)
}

// notRegular points to list_files for folders.
func (r reader) notRegular(path string, err error) Result {
	if _, _, dirErr := r.Root.FS(path); dirErr == nil {
		return toolcall.Failed("%s is a folder: use list_files.", path)
	}
	return toolcall.Failed("%w: it cannot be read as text.", err)
}

// page formats the lines from offset on, numbered, and the number of all lines.
func page(ctx context.Context, s *workspace.Stream, offset, limit int) (Result, error) {
	if s.Binary {
		return toolcall.Failed("%s is a binary file of %d bytes: it cannot be read as text.", s.Info.Name, s.Info.Size), nil
	}
	var b strings.Builder
	total, shown := 0, 0
	counted := true
	for line, err := range s.Lines(readLine, readScan) {
		if errors.Is(err, workspace.ErrTooLarge) {
			counted = false
			break
		}
		if err != nil {
			return Result{}, err
		}
		total++
		if total%1024 == 0 && ctx.Err() != nil {
			return Result{}, ctx.Err()
		}
		if total < offset || shown == limit || b.Len() >= readText {
			continue
		}
		shown++
		fmt.Fprintf(&b, "%d | %s", total, line.Text)
		if line.Length > int64(len(line.Text)) {
			fmt.Fprintf(&b, " […%d bytes more]", line.Length-int64(len(line.Text)))
		}
		b.WriteByte('\n')
	}
	return pageResult(s, &b, pageOf{offset, shown, total, counted}), nil
}

// pageOf describes a page of a file.
type pageOf struct {
	offset, shown, total int
	counted              bool // total is exact
}

func pageResult(s *workspace.Stream, b *strings.Builder, p pageOf) Result {
	total := fmt.Sprint(p.total)
	if !p.counted {
		total = fmt.Sprintf("unknown (only %d of the file's %d bytes were scanned)", readScan, s.Info.Size)
	}
	if p.shown == 0 && p.offset > 1 && p.total < p.offset {
		return toolcall.Failed("%s has no line %d; total_lines: %s", s.Info.Name, p.offset, total)
	}
	fmt.Fprintf(b, "total_lines: %s", total)
	last := p.offset + p.shown - 1
	if last < p.total {
		fmt.Fprintf(b, "; shown: %d-%d; continue with offset %d", p.offset, last, last+1)
	}
	if f := s.Info.Format; f.Encoding != workspace.UTF8 || f.EOL != "\n" {
		fmt.Fprintf(b, "; stored as %s with %s", f.Encoding, eolName(f.EOL))
	}
	user := fmt.Sprintf("%d of %s lines", p.shown, total)
	if !p.counted {
		user = fmt.Sprintf("%d lines", p.shown)
	}
	if s.Info.Format.Encoding == workspace.StrayUTF8 {
		b.WriteString("; each byte that is not UTF-8 is shown as a private character, 0xE9 as U+10FEE9, and stored as that byte again. If the text is in another encoding, the user can name it in the setting \"encoding\"")
		user += ", with bytes that are not UTF-8"
	}
	return Result{ForModel: b.String(), ForUser: user}
}

func eolName(eol string) string {
	switch eol {
	case "\r\n":
		return "CRLF, which edits keep"
	case "\r":
		return "CR, which edits keep"
	}
	return "LF"
}
