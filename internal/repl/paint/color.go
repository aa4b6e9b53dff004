package paint

import "strconv"

// Color is a colour of the terminal's palette or one of its own; the zero value is
// the terminal's default.
type Color int32

// ownColor marks those that are no part of the terminal's palette.
const ownColor Color = 1 << 24

// The colours of the program, by what they say. Each has a place among those that
// every terminal has, so that it means something without a theme; with one, the
// screen puts the theme's colour in its place.
const (
	Bad     Color = 1 + 1  // deleted, failed
	Good    Color = 2 + 1  // added, done
	Warn    Color = 3 + 1  // to be noticed
	Keyword Color = 5 + 1  // of a language
	Code    Color = 6 + 1  // code in text, headings, the marks of lists
	Dim     Color = 8 + 1  // what one may pass over: remarks, comments
	String  Color = 10 + 1 // of a language, like those that follow
	Name    Color = 11 + 1
	Accent  Color = 12 + 1 // the program's own
	Number  Color = 13 + 1
	Type    Color = 14 + 1
	Strong  Color = 15 + 1 // what the user said

	// GoodBack and BadBack stand behind the words that changed, whose text may have
	// any other colour.
	GoodBack Color = 22 + 1
	BadBack  Color = 52 + 1

	// GoodTint and BadTint stand behind whole lines that were added or deleted.
	GoodTint Color = 23 + 1
	BadTint  Color = 53 + 1
)

// Roles lists the colours of the program.
func Roles() []Color {
	return []Color{Bad, Good, Warn, Keyword, Code, Dim, String, Name, Accent, Number, Type, Strong, GoodBack, BadBack, GoodTint, BadTint}
}

// Palette says what the colours of the program look like. One that it does not hold
// is the terminal's default.
type Palette map[Color]Color

// Slot returns the place of c in the terminal's palette; zero if it has none.
func (c Color) Slot() uint8 {
	if c <= 0 || c > 256 {
		return 0
	}
	return uint8(c - 1)
}

// Index returns colour n (0 to 255) of the terminal's palette.
func Index(n uint8) Color { return Color(n) + 1 }

// RGB returns the colour 0xRRGGBB.
func RGB(rgb uint32) Color { return ownColor | Color(rgb&0xffffff) }

// Params returns the parameters of the style sequence that sets c: as the colour of
// the text, or of what is behind it.
func (c Color) Params(behind bool) string {
	base := int64(30)
	if behind {
		base = 40
	}
	return string(c.appendParams(nil, base))
}

// appendParams appends the parameters; base is 30 for the text and 40 for what is
// behind it.
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
