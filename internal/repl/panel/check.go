package panel

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// checked is the output of a proposal's check, in place of the changes. A nil checked is not
// shown.
type checked struct {
	result confirm.CheckResult
	look   theme.Look
	rows
}

// Header describes the result.
func (c *checked) Header() []string {
	return hint(c.look, c.look.Styles.User, "check: "+sanitize.Line(c.result.Line()))
}

// Resize wraps the output for a width in columns.
func (c *checked) Resize(width int) {
	c.look.Width = width
	c.rows = nil
	for line := range strings.SplitSeq(strings.TrimRight(c.result.Output, "\n"), "\n") {
		c.rows = append(c.rows, theme.Wrap(sanitize.Exact(line), "", width)...)
	}
}

// checkLine describes the check of the proposal on one line, which is there from the
// beginning: a result that arrives moves nothing on the screen.
func (d *changes) checkLine() []string {
	check := d.req.Check
	if check == nil || d.out != nil { // the header of the output has it
		return nil
	}
	style, text := d.look.Styles.Dim, check.Title+" …"
	if res, done := check.Result(); done {
		style, text = d.look.Styles.Good, res.Line()
		switch {
		case res.Red():
			style = d.look.Styles.Bad
		case res.Missing != "":
			style = d.look.Styles.Warn
		}
	}
	if d.edited != nil {
		text += " (before your edit)"
	}
	return []string{theme.Paint(style, theme.Short(sanitize.Line("check: "+text), d.look.Width))}
}

// checkHint names the key that shows the output of the check, if there is any.
func (d *changes) checkHint() []string {
	switch {
	case d.out != nil && d.one():
		return []string{d.legend.hint("the change", keys.CheckOutput)}
	case d.out != nil:
		return []string{d.legend.hint("the changes", keys.CheckOutput)}
	}
	if res, done := d.req.Check.Result(); done && res.Output != "" {
		return []string{d.legend.hint("check output", keys.CheckOutput)}
	}
	return nil
}

// showCheck switches between the change and the output of its check. It returns false
// without an output.
func (d *changes) showCheck() bool {
	if len(d.checkHint()) == 0 {
		return false
	}
	if d.rev.shown() {
		d.compare()
	}
	d.scroll.top()
	if d.out != nil {
		d.out, d.body = nil, d.part
		return true
	}
	res, _ := d.req.Check.Result()
	d.out = &checked{result: res, look: d.look}
	d.out.Resize(d.look.Width)
	d.body = d.out
	return true
}

// covered reports whether something else is shown in place of the change.
func (d *changes) covered() bool { return d.rev.shown() || d.out != nil }
