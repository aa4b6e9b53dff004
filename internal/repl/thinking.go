package repl

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/repl/markdown"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// thinking shows a model's reasoning, dimmed and plain, line by line.
type thinking struct {
	clean sanitize.Stream
	line  string // the unfinished line
	open  bool
}

// push adds text and returns the lines that it finished.
func (t *thinking) push(text string, opt markdown.Options) []string {
	var out []string
	if !t.open {
		t.open = true
		out = append(out, "")
	}
	t.line += t.clean.Push(text)
	for {
		done, rest, found := strings.Cut(t.line, "\n")
		if !found {
			return out
		}
		out = append(out, t.render(done, opt)...)
		t.line = rest
	}
}

func (t *thinking) tail(opt markdown.Options) []string {
	if t.line == "" {
		return nil
	}
	return t.render(t.line, opt)
}

// close ends the reasoning and returns its last lines.
func (t *thinking) close(opt markdown.Options) []string {
	if !t.open {
		return nil
	}
	t.line += t.clean.Close()
	out := t.tail(opt)
	*t = thinking{}
	return out
}

func (t *thinking) render(line string, opt markdown.Options) []string {
	lines := wrap(strings.ReplaceAll(line, "\t", "    "), "  ", opt.Width)
	dim := newStyles(opt.Dark, opt.NoColor).dim
	for i, l := range lines {
		lines[i] = paint(dim, l)
	}
	return lines
}
