package diffview

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/repl/highlight"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Command is a command line to approve. Its texts are not sanitized.
type Command struct {
	Line       string
	Dir        string
	Timeout    time.Duration // zero to omit
	Background bool
	Unconfined bool // it ran in the sandbox, and would run again without
	Notes      []string
}

// Call is a call of a tool of an MCP server to approve. Its texts are not sanitized.
type Call struct {
	Server, Tool string
	Args         string // JSON
	Notes        []string
}

// CommandView renders a command or a call for a panel: its header shows the circumstances
// and warnings, its body the complete command, or the complete arguments. It is not safe
// for concurrent use.
type CommandView struct {
	command Command // of a call, Line is its arguments
	call    *Call   // or nil
	opt     Options
	header  []string
	body    []string
}

// numberedFrom is the minimum number of lines of a command with line numbers.
const numberedFrom = 4

// NewCommand prepares c for display.
func NewCommand(c Command, o Options) *CommandView {
	v := &CommandView{command: c, opt: o}
	v.layout()
	return v
}

// NewCall prepares c for display.
func NewCall(c Call, o Options) *CommandView {
	v := &CommandView{command: Command{Line: c.Args, Notes: c.Notes}, call: &c, opt: o}
	v.layout()
	return v
}

// Header returns the lines that must be on the screen before an answer is possible.
func (v *CommandView) Header() []string { return v.header }

// Len returns the number of terminal lines of the command.
func (v *CommandView) Len() int { return len(v.body) }

// Lines returns at most height lines of the command from line offset (0-based).
func (v *CommandView) Lines(offset, height int) []string {
	offset = max(min(offset, len(v.body)), 0)
	return v.body[offset:min(len(v.body), offset+max(height, 0))]
}

// Resize sets the width in columns.
func (v *CommandView) Resize(width int) {
	if width != v.opt.Width {
		v.opt.Width = width
		v.layout()
	}
}

func (v *CommandView) layout() {
	v.header = v.headerLines()
	v.body = v.bodyLines()
}

func (v *CommandView) headerLines() []string {
	c := v.command
	f := paint.NewFlow(v.opt.Width, v.opt.NoColor, paint.Indent{Rest: []paint.Span{{Text: "  "}}})
	if v.call != nil {
		f.Text("call ", theme.Title)
		f.Code(sanitize.Name(v.call.Tool), paint.Style{})
		f.Text(" of the MCP server ", paint.Style{})
		f.Code(sanitize.Name(v.call.Server), paint.Style{})
	} else {
		f.Text(c.verb(), theme.Title)
	}
	if c.Dir != "" {
		f.Text(" in ", paint.Style{})
		f.Code(sanitize.Name(c.Dir), paint.Style{})
	}
	if c.Timeout > 0 {
		f.Text(" · at most "+duration(c.Timeout), theme.Dim)
	}
	if c.Background {
		f.Text(" · in the background", theme.Dim)
	}
	lines := f.Lines()
	for _, w := range append(v.warnings(), c.Notes...) {
		lines = append(lines, warningLines(w, v.opt)...)
	}
	return lines
}

func (c Command) verb() string {
	if c.Unconfined {
		return "run again without the sandbox"
	}
	return "run"
}

// duration formats d without zero parts.
func duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// warnings lists possible pitfalls in the command's text.
func (v *CommandView) warnings() []string {
	const wide = 40
	contains := "the command contains "
	if v.call != nil {
		contains = "the call contains "
	}
	var out []string
	found := map[sanitize.Kind]int{}
	for _, f := range slices.Concat(sanitize.Hidden(v.command.Line), sanitize.Deceptive(v.command.Line)) {
		found[f.Kind] += f.Count
	}
	for _, kind := range sanitize.Kinds() {
		if n := found[kind]; n > 0 {
			out = append(out, contains+caution.Count(n, kind)+", made visible")
		}
	}
	if strings.Contains(v.command.Line, strings.Repeat(" ", wide)) || strings.Contains(v.command.Line, "\n\n\n\n") {
		out = append(out, contains+"a long run of blanks: read it to the end")
	}
	return out
}

func (v *CommandView) bodyLines() []string {
	parts := strings.Split(strings.TrimSuffix(v.command.Line, "\n"), "\n")
	name := "bash"
	switch {
	case v.opt.NoColor:
		name = ""
	case v.call != nil:
		name = "json"
	}
	code := highlight.ForLanguage(name)
	digits := len(strconv.Itoa(len(parts)))
	var lines []string
	for i, part := range parts {
		mark := "  "
		switch {
		case len(parts) >= numberedFrom:
			mark = fmt.Sprintf("%*d ", digits, i+1)
		case i == 0 && v.call == nil:
			mark = "$ "
		}
		lines = append(lines, v.commandLine(mark, part, code)...)
	}
	return lines
}

// commandLine renders one line of the command after mark.
func (v *CommandView) commandLine(mark, text string, code *highlight.Lines) []string {
	raw := text
	text = sanitize.Exact(raw)
	spans := emphasize(code.Line(text), revealed(raw, text), theme.Revealed)
	spans = expand(spans, tellingBlanks(text, nil, diff.Insert))
	room := max(v.opt.Width-len(mark), 1)
	var lines []string
	for _, row := range paint.Chop(spans, room) {
		lines = append(lines, paint.Line(v.opt.NoColor, append([]paint.Span{{Text: mark, Style: theme.Dim}}, row...)...))
		mark = strings.Repeat(" ", len(mark))
	}
	return lines
}
