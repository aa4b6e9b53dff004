package diffview

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

var (
	styleTint    = map[diff.Op]paint.Style{diff.Insert: theme.AddedLine, diff.Delete: theme.DeletedLine}
	styleChanged = map[diff.Op]paint.Style{diff.Insert: theme.AddedWords, diff.Delete: theme.DeletedWords}
)

func verb(c Change) string {
	switch {
	case c.To != "":
		return "move"
	case c.Delete:
		return "delete"
	case !c.Exists:
		return "create"
	}
	return "edit"
}

// changeHeader describes the file, what happens to it, and warnings.
func changeHeader(c Change, d *diff.Diff, o Options) []string {
	added, removed := d.Counts()
	what := verb(c)
	switch {
	case c.Since:
		what = "since your refusal of"
	case c.Revised:
		what = "revised: " + what
	}
	name := sanitize.Name(c.Name)
	if c.To != "" {
		name += " → " + sanitize.Name(c.To)
	}
	lines := titleLine(what, name, added, removed, properties(c), o)
	for _, w := range warnings(c, d) {
		lines = append(lines, warningLines(w, o)...)
	}
	return lines
}

// titleLine returns the first line of a header, wrapped if too long. name is sanitized.
func titleLine(verb, name string, added, removed int, properties []string, o Options) []string {
	f := paint.NewFlow(o.Width, o.NoColor, paint.Indent{Rest: []paint.Span{{Text: "  "}}})
	f.Text(verb+" ", paint.Style{})
	f.Code(name, theme.Title)
	f.Text("  ", paint.Style{})
	f.Text(fmt.Sprintf("+%d", added), theme.Good)
	f.Text(" ", paint.Style{})
	f.Text(fmt.Sprintf("−%d", removed), theme.Bad)
	for _, p := range properties {
		f.Text(" ·\u00a0"+sanitize.Line(p), theme.Dim)
	}
	return f.Lines()
}

func moreLine(n int, o Options) string {
	return paint.Line(o.NoColor, paint.Truncate([]paint.Span{{Text: "  " + More(n, o.Whole), Style: theme.Dim}}, o.Width)...)
}

// More returns a remark about n hidden lines, with the key that shows them, if there is one.
func More(n int, key string) string {
	text := "… " + plural.Grouped(n) + " more lines"
	if n == 1 {
		text = "… 1 more line"
	}
	if key != "" {
		text += ", " + key
	}
	return text
}

// properties describes unusual properties that an edit keeps.
func properties(c Change) []string {
	var out []string
	if (c.Delete || c.To != "" && c.Before == c.After) && (c.Size > 0 || c.Before == "") {
		out = append(out, fmt.Sprintf("%d bytes", c.Size))
	}
	text := c.Before
	if !c.Exists {
		text = c.After
	}
	if name := lineEndings(text); name != "" {
		out = append(out, name)
	}
	if c.Encoding != "" && c.Encoding != "utf-8" {
		out = append(out, strings.ToUpper(c.Encoding))
	}
	if c.BOM {
		out = append(out, "BOM")
	}
	if c.Mode&0o111 != 0 && c.Mode.Type() == fs.FileMode(0) {
		out = append(out, "executable")
	}
	return out
}

// lineEndings names the line endings of a text if they are not LF.
func lineEndings(text string) string {
	crlf, lf := strings.Count(text, "\r\n"), strings.Count(text, "\n")
	switch {
	case crlf > 0 && crlf < lf:
		return "mixed line endings"
	case crlf > 0:
		return "CRLF"
	case lf == 0 && strings.Contains(text, "\r"):
		return "CR"
	}
	return ""
}

// warnings lists details that a reader of the diff could miss.
func warnings(c Change, d *diff.Diff) []string {
	if c.To != "" && c.Before == c.After {
		return c.Notes
	}
	var out []string
	for _, n := range caution.Of(d, c.Before, c.After, c.Exists) {
		if n.Kind == caution.Hidden || n.Kind == caution.OddSpace || n.Kind == caution.LookAlike {
			n.Text = strings.Replace(n.Text, ": ", ", made visible: ", 1)
		}
		if !c.Delete {
			out = append(out, n.Text)
		}
	}
	return append(out, c.Notes...)
}

func warningLines(text string, o Options) []string {
	mark := paint.Span{Text: "! ", Style: theme.Warning}
	f := paint.NewFlow(o.Width, o.NoColor, paint.Indent{First: []paint.Span{mark}, Rest: []paint.Span{{Text: "  "}}})
	f.Text(sanitize.Line(text), theme.Warning)
	return f.Lines()
}
