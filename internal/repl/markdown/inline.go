package markdown

import (
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// inlines renders the text of n's children.
func (r *typesetter) inlines(f *paint.Flow, n ast.Node, style paint.Style) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		r.inline(f, c, style)
	}
}

func (r *typesetter) inline(f *paint.Flow, n ast.Node, style paint.Style) {
	switch n := n.(type) {
	case *ast.Text:
		f.Text(unescape(string(n.Segment.Value(r.src))), style)
		switch {
		case n.HardLineBreak():
			f.Break()
		case n.SoftLineBreak():
			f.Text(" ", style)
		}
	case *ast.String:
		f.Text(sanitize.Text(string(n.Value)), style)
	case *ast.CodeSpan:
		marked(f, r.opt, "`", func() { f.Code(codeText(n, r.src), theme.Code.Over(style)) })
	case *ast.Emphasis:
		mark, emphasis := "*", theme.Emphasis
		if n.Level > 1 {
			mark, emphasis = "**", theme.Strong
		}
		marked(f, r.opt, mark, func() { r.inlines(f, n, emphasis.Over(style)) })
	case *extast.Strikethrough:
		marked(f, r.opt, "~~", func() { r.inlines(f, n, theme.Struck.Over(style)) })
	case *ast.Link:
		r.link(f, n, string(n.Destination), style)
	case *ast.Image:
		f.Text("image: ", theme.Dim.Over(style))
		r.link(f, n, string(n.Destination), style)
	case *ast.AutoLink:
		f.Text(sanitize.Text(string(n.Label(r.src))), theme.Link.Over(style))
	case *extast.TaskCheckBox:
		f.Text(checkBox(n.IsChecked), style)
	default:
		r.inlines(f, n, style)
	}
}

// marked puts marks around text if there are no styles to distinguish it.
func marked(f *paint.Flow, opt Options, mark string, set func()) {
	if !opt.NoColor {
		set()
		return
	}
	f.Text(mark, paint.Style{})
	set()
	f.Text(mark, paint.Style{})
}

func checkBox(checked bool) string {
	if checked {
		return "[x] "
	}
	return "[ ] "
}

// link renders the text of a link and, unless it is the same, its destination.
func (r *typesetter) link(f *paint.Flow, n ast.Node, dest string, style paint.Style) {
	dest = sanitize.Line(dest)
	r.inlines(f, n, theme.Link.Over(style))
	if t, ok := n.FirstChild().(*ast.Text); ok && n.ChildCount() == 1 && string(t.Segment.Value(r.src)) == dest {
		return
	}
	if n.HasChildren() {
		f.Text(" ", style)
	}
	f.Text("("+dest+")", theme.Dim.Over(style))
}

// codeText returns the text of a code span on one line.
func codeText(n ast.Node, src []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(src))
		}
	}
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(b.String())
}

// unescape resolves backslash escapes and character references. A reference can name any
// character, so its result is sanitized again.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for {
		i := strings.IndexAny(s, `\&`)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		n := 1
		switch {
		case s[i] == '&':
			var text string
			text, n = reference(s[i:])
			b.WriteString(text)
		case i+1 < len(s) && isPunct(s[i+1]):
			b.WriteByte(s[i+1])
			n = 2
		default:
			b.WriteByte('\\')
		}
		s = s[i+n:]
	}
}

// reference resolves the character reference at the start of s, if any, and returns its size.
func reference(s string) (string, int) {
	const longest = 40
	end := strings.IndexByte(s[:min(len(s), longest)], ';')
	if end < 0 {
		return "&", 1
	}
	if text := html.UnescapeString(s[:end+1]); text != s[:end+1] {
		return sanitize.Line(text), end + 1
	}
	return "&", 1
}

func isPunct(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}
