package screen

import (
	"bytes"
	"strings"

	"github.com/charmbracelet/colorprofile"
)

// palette brings colours down to those that the terminal has.
type palette struct {
	profile colorprofile.Profile
	known   map[string]string // style sequences, as translated
}

// maxKnown bounds the memory of a palette; a theme has some dozens of styles.
const maxKnown = 4096

// downsample translates the style sequences of a clean line.
func (p *palette) downsample(s string) string {
	if p.profile == colorprofile.TrueColor {
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
	var b bytes.Buffer
	w := colorprofile.Writer{Forward: &b, Profile: p.profile}
	t := ""
	if _, err := w.WriteString(seq); err == nil {
		t = b.String()
	}
	if len(t) >= 3 && isReset(t) && !strings.HasPrefix(seq, "\x1b[0;") {
		t = "" // only colours, and none of them is left
	}
	if p.known == nil || len(p.known) >= maxKnown {
		p.known = map[string]string{}
	}
	p.known[seq] = t
	return t
}
