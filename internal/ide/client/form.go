package client

import "strings"

// form converts a text for an editor that is not ours, and back. Such editors show the
// lines of a file without its line endings, so a proposal must not hold them either, or
// every line would look changed.
type form struct {
	ending string // line ending of the file
	// exact means that the editor returns a text as the person left it. Others add or
	// drop the newline at its end.
	exact bool
	// shows means that the editor shows mixed line endings, and returns them.
	shows bool
}

// formOf returns the form for a proposal that replaces base, which is empty for a new
// file. A text with mixed line endings is sent unchanged: editors show them.
func (c *Client) formOf(base, proposal string) form {
	f := form{ending: "\n", exact: c.emacs, shows: c.emacs || c.neovim}
	was, is := lineEnding(base), lineEnding(proposal)
	if was == "" {
		was = is
	}
	if is == "" {
		is = was
	}
	switch {
	case is != was:
	case is == "\r\n", is == "\r" && !c.neovim:
		f.ending = is
	}
	return f
}

// lineEnding returns the line ending of s: "" if s has one line, "mixed" if it has
// several kinds.
func lineEnding(s string) string {
	crlf := strings.Count(s, "\r\n")
	cr, lf := strings.Count(s, "\r")-crlf, strings.Count(s, "\n")-crlf
	switch {
	case crlf+cr+lf == 0:
		return ""
	case cr+lf == 0:
		return "\r\n"
	case crlf+cr == 0:
		return "\n"
	case crlf+lf == 0:
		return "\r"
	}
	return "mixed"
}

// sent returns text in the form for the editor.
func (f form) sent(text string) string { return strings.ReplaceAll(text, f.ending, "\n") }

// read interprets the editor's answer to proposal: it returns the text, and whether the
// person edited it.
func (f form) read(proposal, answer string) (text string, edited bool) {
	answer = f.restored(proposal, answer)
	sent, got := f.sent(proposal), f.sent(answer)
	if f.ending == "\r\n" {
		got = strings.TrimSuffix(got, "\r") // half of the last ending
	}
	if got == sent || answer == proposal || !f.exact && f.untouched(sent, got) {
		return proposal, false
	}
	if !f.exact && sent != "" && !strings.HasSuffix(sent, "\n") {
		got = strings.TrimSuffix(got, "\n") // added by the editor
	}
	return strings.ReplaceAll(got, "\n", f.ending), true
}

// untouched reports whether got differs from sent only in ways that editors cause.
func (f form) untouched(sent, got string) bool {
	if sent == "" || !strings.HasSuffix(sent, "\n") {
		return got == sent+"\n" || cutNewline(got) == sent && cutNewline(sent) == sent
	}
	return sent == got+"\n" && !strings.HasSuffix(got, "\n")
}

// cutNewline removes one newline from the end of s.
func cutNewline(s string) string {
	if cut, ok := strings.CutSuffix(s, "\r\n"); ok {
		return cut
	}
	return strings.TrimSuffix(s, "\n")
}
