package stream

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// thinking shows a model's reasoning, dimmed and plain, line by line.
type thinking struct {
	clean sanitize.Stream
	line  string // the unfinished line
	open  bool
}

// push adds text and returns the lines that it finishes.
func (t *thinking) push(text string, look theme.Look) []string {
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
		out = append(out, t.render(done, look)...)
		t.line = rest
	}
}

func (t *thinking) tail(look theme.Look) []string {
	if t.line == "" {
		return nil
	}
	return t.render(t.line, look)
}

// close ends the reasoning and returns its last lines.
func (t *thinking) close(look theme.Look) []string {
	if !t.open {
		return nil
	}
	t.line += t.clean.Close()
	out := t.tail(look)
	*t = thinking{}
	return out
}

func (t *thinking) render(line string, look theme.Look) []string {
	lines := theme.Wrap(strings.ReplaceAll(line, "\t", "    "), "  ", look.Width)
	for i, l := range lines {
		lines[i] = theme.Paint(look.Styles.Dim, l)
	}
	return lines
}
