package screen

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

// palette replaces the program's colors with the theme's and downsamples them for the
// terminal.
type palette struct {
	profile colorprofile.Profile
	colors  paint.Palette     // nil keeps colors as they are
	known   map[string]string // translated style sequences
}

// maxKnown bounds the size of known; the program uses some dozens of styles.
const maxKnown = 4096

// color translates the style sequences of a clean line.
func (p *palette) color(s string) string {
	if p.profile == colorprofile.TrueColor && p.colors == nil {
		return s
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		n := styleLen(s[i:])
		b.WriteString(s[:i])
		b.WriteString(p.translate(s[i : i+n]))
		s = s[i+n:]
	}
}

func (p *palette) translate(seq string) string {
	if isReset(seq) {
		return seq
	}
	if t, ok := p.known[seq]; ok {
		return t
	}
	t := p.downsample(p.themed(seq))
	if p.known == nil || len(p.known) >= maxKnown {
		p.known = map[string]string{}
	}
	p.known[seq] = t
	return t
}

// downsample converts the colors of a sequence to those of the terminal.
func (p *palette) downsample(seq string) string {
	if p.profile == colorprofile.TrueColor || seq == "" || isReset(seq) {
		return seq
	}
	var b bytes.Buffer
	w := colorprofile.Writer{Forward: &b, Profile: p.profile}
	if _, err := w.WriteString(seq); err != nil {
		return ""
	}
	t := b.String()
	if len(t) >= 3 && isReset(t) && !strings.HasPrefix(seq, "\x1b[0;") {
		return "" // nothing but colors, none of which is left
	}
	return t
}

// themed returns a style sequence in the theme's colors.
func (p *palette) themed(seq string) string {
	if p.colors == nil {
		return seq
	}
	params := strings.Split(seq[2:len(seq)-1], ";")
	var out []string
	for i := 0; i < len(params); i++ {
		c, kind, n := colorOf(params[i:])
		switch kind {
		case text, behind:
			out = append(out, p.colors[c].Params(kind == behind))
		case none:
			out = append(out, params[i])
		case underline: // follows the foreground
		}
		i += n - 1
	}
	if len(out) == 0 {
		return ""
	}
	return "\x1b[" + strings.Join(out, ";") + "m"
}

// kind is the use of a color.
type kind int

const (
	none kind = iota
	text
	behind
	underline
)

// colorOf parses a color at the start of a sequence's parameters and returns the number of
// parameters it used. A color that is not in the palette is zero.
func colorOf(params []string) (c paint.Color, of kind, n int) {
	head, _, colon := strings.Cut(params[0], ":")
	code, err := strconv.Atoi(head)
	if err != nil {
		return 0, none, 1
	}
	of, extended := map[int]kind{38: text, 48: behind, 58: underline}[code]
	switch {
	case !extended:
		c, of = basic(code)
		return c, of, 1
	case colon || len(params) < 2:
		return 0, of, 1
	case params[1] != "5" || len(params) < 3:
		return 0, of, min(len(params), 5)
	}
	if index, err := strconv.ParseUint(params[2], 10, 8); err == nil {
		c = paint.Index(uint8(index))
	}
	return c, of, 3
}

// basic returns the color set by a single parameter.
func basic(code int) (paint.Color, kind) {
	bright := 0
	if code >= 90 {
		code, bright = code-60, 8
	}
	switch {
	case code >= 30 && code < 38:
		return paint.Index(uint8(code - 30 + bright)), text
	case code >= 40 && code < 48:
		return paint.Index(uint8(code - 40 + bright)), behind
	}
	return 0, none
}
