package picture

import (
	"fmt"
	"strconv"
	"strings"
)

// The colors of a terminal with a dark background.
const (
	foreground = "#d7dae0"
	background = "#1b1d23"
)

var palette = [16]string{
	"#1b1d23", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#abb2bf",
	"#6b717d", "#ef8a92", "#b5dd97", "#f0d399", "#84c3f7", "#d99aec", "#7fd0da", "#ffffff",
}

// look is a style in terms of SVG.
type look struct {
	fore, back                              string // empty: the terminal's own
	bold, faint, italic, underlined, struck bool
}

func (l look) lined() bool { return l.underlined || l.struck }

// attributes are those of an SVG text.
func (l look) attributes() string {
	var b strings.Builder
	if l.fore != "" {
		fmt.Fprintf(&b, ` fill="%s"`, l.fore)
	}
	for _, a := range []struct {
		on   bool
		text string
	}{
		{l.bold, ` font-weight="bold"`},
		{l.faint, ` opacity="0.6"`},
		{l.italic, ` font-style="italic"`},
		{l.underlined, ` text-decoration="underline"`},
		{l.struck, ` text-decoration="line-through"`},
	} {
		if a.on {
			b.WriteString(a.text)
		}
	}
	return b.String()
}

// lookOf reads the parameters of a cell's style.
func lookOf(style string) look {
	var l look
	reverse := false
	params := strings.Split(style, ";")
	for i := 0; i < len(params); i++ {
		n, err := strconv.Atoi(params[i])
		if err != nil {
			continue
		}
		switch n {
		case 7:
			reverse = true
		case 38, 48, 58:
			color, used := extended(params[i+1:])
			i += used
			l.put(n, color)
		default:
			l.simple(n)
		}
	}
	if reverse {
		l.fore, l.back = orElse(l.back, background), orElse(l.fore, foreground)
	}
	return l
}

// put sets the color that an extended parameter names.
func (l *look) put(n int, color string) {
	switch n {
	case 38:
		l.fore = color
	case 48:
		l.back = color
	}
}

// simple applies a parameter that takes no further ones.
func (l *look) simple(n int) {
	switch {
	case n == 1:
		l.bold = true
	case n == 2:
		l.faint = true
	case n == 3:
		l.italic = true
	case n == 4 || n == 21:
		l.underlined = true
	case n == 9:
		l.struck = true
	case n >= 30 && n < 38:
		l.fore = palette[n-30]
	case n >= 90 && n < 98:
		l.fore = palette[n-90+8]
	case n >= 40 && n < 48:
		l.back = palette[n-40]
	case n >= 100 && n < 108:
		l.back = palette[n-100+8]
	}
}

// extended reads the rest of an extended color, and returns how many parameters it
// used.
func extended(params []string) (color string, used int) {
	switch {
	case len(params) >= 4 && params[0] == "2":
		return fmt.Sprintf("#%02x%02x%02x", atoi(params[1]), atoi(params[2]), atoi(params[3])), 4
	case len(params) >= 2 && params[0] == "5":
		return indexed(atoi(params[1])), 2
	}
	return "", 0
}

// indexed returns a color of the 256 that terminals number.
func indexed(n int) string {
	switch {
	case n < 16:
		return palette[n]
	case n >= 232:
		grey := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
}

// level is a step of the color cube.
func level(n int) int {
	if n == 0 {
		return 0
	}
	return 55 + 40*n
}

// atoi reads a number from 0 to 255; anything else is 0.
func atoi(s string) int {
	n, err := strconv.ParseUint(s, 10, 8)
	if err != nil {
		return 0
	}
	return int(n)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
