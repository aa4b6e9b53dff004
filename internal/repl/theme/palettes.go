package theme

import "github.com/bb2d0cf4/agent/internal/repl/paint"

// Names lists the themes, in the order of the documentation.
func Names() []string {
	return []string{Auto, "dark", "light", "high-contrast", "colorblind", "ansi", None}
}

// Auto follows the terminal's background. None has no colors.
const (
	Auto = "auto"
	None = "none"
)

// Palette returns the colors of l. A terminal with sixteen colors keeps its own, which its
// user chose.
func (l Look) Palette(sixteen bool) paint.Palette {
	dark := l.Theme == "dark" || l.Dark && l.Theme != "light"
	switch {
	case l.Theme == None:
		return paint.Palette{}
	case l.Theme == "ansi" || sixteen:
		return pick(dark, ansiDark, ansiLight)
	case l.Theme == "high-contrast":
		return pick(dark, contrastDark, contrastLight)
	case l.Theme == "colorblind":
		return pick(dark, colorblindDark, colorblindLight)
	}
	return pick(dark, darkColors, lightColors)
}

func pick(dark bool, onDark, onLight paint.Palette) paint.Palette {
	if dark {
		return onDark
	}
	return onLight
}

var darkColors = paint.Palette{
	paint.Bad:      paint.RGB(0xff8f87),
	paint.Good:     paint.RGB(0x7ee787),
	paint.Warn:     paint.RGB(0xe3b341),
	paint.Keyword:  paint.RGB(0xd2a8ff),
	paint.Code:     paint.RGB(0x76d9e6),
	paint.Dim:      paint.RGB(0xa0a8b2),
	paint.String:   paint.RGB(0xa5d6a7),
	paint.Name:     paint.RGB(0xf0c674),
	paint.Accent:   paint.RGB(0x79c0ff),
	paint.Number:   paint.RGB(0xffb3a0),
	paint.Type:     paint.RGB(0x7fdbca),
	paint.Strong:   paint.RGB(0xf0f3f6),
	paint.GoodBack: paint.RGB(0x0b3d1a),
	paint.BadBack:  paint.RGB(0x551a1a),
	paint.GoodTint: paint.RGB(0x06210f),
	paint.BadTint:  paint.RGB(0x2d0f0f),
}

var lightColors = paint.Palette{
	paint.Bad:      paint.RGB(0xa40e26),
	paint.Good:     paint.RGB(0x116329),
	paint.Warn:     paint.RGB(0x7d4e00),
	paint.Keyword:  paint.RGB(0x6f2dbd),
	paint.Code:     paint.RGB(0x0b5c6b),
	paint.Dim:      paint.RGB(0x57606a),
	paint.String:   paint.RGB(0x1b5e20),
	paint.Name:     paint.RGB(0x7a4100),
	paint.Accent:   paint.RGB(0x0550ae),
	paint.Number:   paint.RGB(0x9a2a1a),
	paint.Type:     paint.RGB(0x005f56),
	paint.Strong:   paint.RGB(0x1f2328),
	paint.GoodBack: paint.RGB(0xccf2d1),
	paint.BadBack:  paint.RGB(0xffdcd7),
	paint.GoodTint: paint.RGB(0xe9fbec),
	paint.BadTint:  paint.RGB(0xfff1ef),
}

// High contrast: at least 7:1 on black and white.
var contrastDark = paint.Palette{
	paint.Bad:      paint.RGB(0xffc4bc),
	paint.Good:     paint.RGB(0x8bff9a),
	paint.Warn:     paint.RGB(0xffd75f),
	paint.Keyword:  paint.RGB(0xe5c8ff),
	paint.Code:     paint.RGB(0x9ff1ff),
	paint.Dim:      paint.RGB(0xdadcdf),
	paint.String:   paint.RGB(0xc0f5c2),
	paint.Name:     paint.RGB(0xffe08a),
	paint.Accent:   paint.RGB(0xc9e4ff),
	paint.Number:   paint.RGB(0xffc9ba),
	paint.Type:     paint.RGB(0xa6f2e4),
	paint.Strong:   paint.RGB(0xffffff),
	paint.GoodBack: paint.RGB(0x00360f),
	paint.BadBack:  paint.RGB(0x4d0000),
	paint.GoodTint: paint.RGB(0x001a07),
	paint.BadTint:  paint.RGB(0x260000),
}

var contrastLight = paint.Palette{
	paint.Bad:      paint.RGB(0x8a0016),
	paint.Good:     paint.RGB(0x003d10),
	paint.Warn:     paint.RGB(0x3f2f00),
	paint.Keyword:  paint.RGB(0x4b0f94),
	paint.Code:     paint.RGB(0x003f4d),
	paint.Dim:      paint.RGB(0x3b424a),
	paint.String:   paint.RGB(0x0c430f),
	paint.Name:     paint.RGB(0x5c2f00),
	paint.Accent:   paint.RGB(0x002a66),
	paint.Number:   paint.RGB(0x7a1608),
	paint.Type:     paint.RGB(0x00443d),
	paint.Strong:   paint.RGB(0x000000),
	paint.GoodBack: paint.RGB(0xdcffe2),
	paint.BadBack:  paint.RGB(0xffe8e4),
	paint.GoodTint: paint.RGB(0xf2fff4),
	paint.BadTint:  paint.RGB(0xfff6f4),
}

// For color blindness: blue and orange in place of green and red.
var colorblindDark = paint.Palette{
	paint.Bad:      paint.RGB(0xffa657),
	paint.Good:     paint.RGB(0x6cb6ff),
	paint.Warn:     paint.RGB(0xf7e463),
	paint.Keyword:  paint.RGB(0xd8b9ff),
	paint.Code:     paint.RGB(0x8ddbf0),
	paint.Dim:      paint.RGB(0xa0a8b2),
	paint.String:   paint.RGB(0xb6d7f5),
	paint.Name:     paint.RGB(0xf2d98c),
	paint.Accent:   paint.RGB(0x9ecbff),
	paint.Number:   paint.RGB(0xffc48f),
	paint.Type:     paint.RGB(0x9fd8e8),
	paint.Strong:   paint.RGB(0xf0f3f6),
	paint.GoodBack: paint.RGB(0x0c2d6b),
	paint.BadBack:  paint.RGB(0x5a2a00),
	paint.GoodTint: paint.RGB(0x071b40),
	paint.BadTint:  paint.RGB(0x331a04),
}

var colorblindLight = paint.Palette{
	paint.Bad:      paint.RGB(0x9a3a00),
	paint.Good:     paint.RGB(0x0349b4),
	paint.Warn:     paint.RGB(0x6b5300),
	paint.Keyword:  paint.RGB(0x5a32a3),
	paint.Code:     paint.RGB(0x0b5578),
	paint.Dim:      paint.RGB(0x57606a),
	paint.String:   paint.RGB(0x1d4f86),
	paint.Name:     paint.RGB(0x6b4a00),
	paint.Accent:   paint.RGB(0x0550ae),
	paint.Number:   paint.RGB(0x8a3b00),
	paint.Type:     paint.RGB(0x0b5578),
	paint.Strong:   paint.RGB(0x1f2328),
	paint.GoodBack: paint.RGB(0xcfe4ff),
	paint.BadBack:  paint.RGB(0xffe2c2),
	paint.GoodTint: paint.RGB(0xebf4ff),
	paint.BadTint:  paint.RGB(0xfff4e8),
}

// The sixteen colors of the terminal. The light variant avoids the bright ones, and neither
// sets backgrounds: none is readable under text of every color.
var ansiDark = paint.Palette{
	paint.Bad: paint.Index(9), paint.Good: paint.Index(10), paint.Warn: paint.Index(11), paint.Keyword: paint.Index(13),
	paint.Code: paint.Index(14), paint.Dim: paint.Index(7), paint.String: paint.Index(2), paint.Name: paint.Index(3),
	paint.Accent: paint.Index(12), paint.Number: paint.Index(5), paint.Type: paint.Index(6), paint.Strong: paint.Index(15),
}

var ansiLight = paint.Palette{
	paint.Bad: paint.Index(1), paint.Good: paint.Index(2), paint.Warn: paint.Index(5), paint.Keyword: paint.Index(4),
	paint.Code: paint.Index(6), paint.Dim: paint.Index(8), paint.String: paint.Index(2), paint.Name: paint.Index(5),
	paint.Accent: paint.Index(4), paint.Number: paint.Index(1), paint.Type: paint.Index(6), paint.Strong: paint.Index(0),
}
