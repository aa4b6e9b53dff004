package paint

import "strconv"

// Color is a color of the terminal's palette or an RGB color; the zero value is the
// terminal's default.
type Color int32

// ownColor marks RGB colors.
const ownColor Color = 1 << 24

// The colors of the program, named by meaning. Each is a slot of the palette that every
// terminal has, so it works without a theme; with a theme, the screen substitutes the theme's
// color.
const (
	Bad     Color = 1 + 1  // deleted, failed
	Good    Color = 2 + 1  // added, done
	Warn    Color = 3 + 1  // needs attention
	Keyword Color = 5 + 1  // syntax
	Code    Color = 6 + 1  // code in text, headings, the marks of lists
	Dim     Color = 8 + 1  // secondary text: remarks, comments
	String  Color = 10 + 1 // syntax, like the next two
	Name    Color = 11 + 1
	Accent  Color = 12 + 1 // the program's own highlights
	Number  Color = 13 + 1
	Type    Color = 14 + 1
	Strong  Color = 15 + 1 // the user's words

	// GoodBack and BadBack are backgrounds of changed words; any text color may be on them.
	GoodBack Color = 22 + 1
	BadBack  Color = 52 + 1

	// GoodTint and BadTint are backgrounds of whole added or deleted lines.
	GoodTint Color = 23 + 1
	BadTint  Color = 53 + 1
)

// Palette maps the colors of the program to those of a theme. A missing one is the terminal's
// default.
type Palette map[Color]Color

// Slot returns the index of c in the terminal's palette, or zero if it has none.
func (c Color) Slot() uint8 {
	if c <= 0 || c > 256 {
		return 0
	}
	return uint8(c - 1)
}

// Index returns color n (0 to 255) of the terminal's palette.
func Index(n uint8) Color { return Color(n) + 1 }

// RGB returns the color 0xRRGGBB.
func RGB(rgb uint32) Color { return ownColor | Color(rgb&0xffffff) }

// Params returns the SGR parameters that set c as the foreground, or the background if
// behind.
func (c Color) Params(behind bool) string {
	base := int64(30)
	if behind {
		base = 40
	}
	return string(c.appendParams(nil, base))
}

// appendParams appends the SGR parameters; base is 30 for the foreground, 40 for the
// background.
func (c Color) appendParams(b []byte, base int64) []byte {
	if c >= ownColor {
		b = strconv.AppendInt(b, base+8, 10)
		b = append(b, ";2"...)
		for shift := 16; shift >= 0; shift -= 8 {
			b = append(b, ';')
			b = strconv.AppendInt(b, int64(c>>shift&0xff), 10)
		}
		return b
	}
	switch n := int64(c) - 1; {
	case n < 0:
		return strconv.AppendInt(b, base+9, 10)
	case n < 8:
		return strconv.AppendInt(b, base+n, 10)
	case n < 16:
		return strconv.AppendInt(b, base+52+n, 10)
	default:
		b = strconv.AppendInt(b, base+8, 10)
		b = append(b, ";5;"...)
		return strconv.AppendInt(b, n, 10)
	}
}
