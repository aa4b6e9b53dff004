package panel

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
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
func (p *Panel) checkLine() []string {
	check := p.req.Check
	if check == nil || p.out != nil { // the header of the output has it
		return nil
	}
	style, text := p.look.Styles.Dim, check.Title+" …"
	if res, done := check.Result(); done {
		style, text = p.look.Styles.Good, res.Line()
		switch {
		case res.Red():
			style = p.look.Styles.Bad
		case res.Missing != "":
			style = p.look.Styles.Warn
		}
	}
	if p.edited != nil {
		text += " (before your edit)"
	}
	return []string{theme.Paint(style, theme.Short(sanitize.Line("check: "+text), p.look.Width))}
}

// checkHint names the key that shows the output of the check, if there is any.
func (p *Panel) checkHint() []string {
	switch {
	case p.out != nil && p.one():
		return []string{"t the change"}
	case p.out != nil:
		return []string{"t the changes"}
	}
	if res, done := p.req.Check.Result(); done && res.Output != "" {
		return []string{"t check output"}
	}
	return nil
}

// showCheck switches between the change and the output of its check. It returns false
// without an output.
func (p *Panel) showCheck() bool {
	if len(p.checkHint()) == 0 {
		return false
	}
	if p.rev.shown() {
		p.compare()
	}
	p.scroll.top()
	if p.out != nil {
		p.out, p.body = nil, p.part
		return true
	}
	res, _ := p.req.Check.Result()
	p.out = &checked{result: res, look: p.look}
	p.out.Resize(p.look.Width)
	p.body = p.out
	return true
}

// covered reports whether something else is shown in place of the change.
func (p *Panel) covered() bool { return p.rev.shown() || p.out != nil }
