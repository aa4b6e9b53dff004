package theme

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

// Backgrounds of common terminals.
var (
	darkBacks  = []uint32{0x000000, 0x0d1117, 0x1e1e1e, 0x282c34, 0x002b36}
	lightBacks = []uint32{0xffffff, 0xf6f8fa, 0xfdf6e3, 0xeff1f5}
)

// own lists the palettes with RGB colors and the contrast that each must reach.
var own = []struct {
	theme string
	dark  bool
	backs []uint32
	ratio float64
}{
	{"dark", true, darkBacks, 4.5},
	{"light", false, lightBacks, 4.5},
	{"colorblind", true, darkBacks, 4.5},
	{"colorblind", false, lightBacks, 4.5},
	{"high-contrast", true, darkBacks[:3], 7},
	{"high-contrast", false, lightBacks[:2], 7},
}

type rgb [3]float64

func rgbOf(c color.Color) rgb {
	r, g, b, _ := c.RGBA()
	return rgb{float64(r) / 0xffff, float64(g) / 0xffff, float64(b) / 0xffff}
}

// shown returns the color that a terminal of the given profile shows for c.
func shown(t *testing.T, c paint.Color, profile colorprofile.Profile) rgb {
	t.Helper()
	var n [3]uint8
	if _, err := fmt.Sscanf(c.Params(false), "38;2;%d;%d;%d", &n[0], &n[1], &n[2]); err != nil {
		t.Fatalf("%s: %v", c.Params(false), err)
	}
	return rgbOf(profile.Convert(color.RGBA{n[0], n[1], n[2], 0xff}))
}

func hex(n uint32) rgb {
	return rgb{float64(n>>16) / 255, float64(n>>8&0xff) / 255, float64(n&0xff) / 255}
}

// luminance and contrast follow WCAG 2.2.
func luminance(c rgb) float64 {
	for i, v := range c {
		c[i] = linear(v)
	}
	return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2]
}

func linear(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

func contrast(a, b rgb) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

var backs = []paint.Color{paint.GoodBack, paint.BadBack, paint.GoodTint, paint.BadTint}

// Text of every color is readable on every background and on the marks of changed words. The
// 256 colors have no dark green: the required contrast on marks is lower there.
func TestContrast(t *testing.T) {
	for _, tt := range own {
		look := New(tt.theme, false)
		look.Dark = tt.dark
		palette := look.Palette(false)
		for _, profile := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256} {
			for _, role := range roles {
				if slices.Contains(backs, role) {
					continue
				}
				text := shown(t, palette[role], profile)
				check := func(what string, back rgb, least float64) {
					if got := contrast(text, back); got < least {
						t.Errorf("%s (dark %v, %v): color %d on %s has %.2f:1, at least %.1f:1 wanted",
							tt.theme, tt.dark, profile, role.Slot(), what, got, least)
					}
				}
				for _, b := range tt.backs {
					check(fmt.Sprintf("#%06x", b), hex(b), tt.ratio)
				}
				marked := tt.ratio
				if profile == colorprofile.ANSI256 {
					marked -= 1.5
				}
				check("what was added", shown(t, palette[paint.GoodBack], profile), marked)
				check("what was deleted", shown(t, palette[paint.BadBack], profile), marked)
				check("an added line", shown(t, palette[paint.GoodTint], profile), marked)
				check("a deleted line", shown(t, palette[paint.BadTint], profile), marked)
			}
		}
	}
}

// Simulation matrices for each kind of color blindness (Machado et al. 2009, full severity),
// on linear colors.
var blindness = map[string][3]rgb{
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func seen(c rgb, m [3]rgb) rgb {
	var out rgb
	for i := range out {
		for j, v := range c {
			out[i] += m[i][j] * linear(v)
		}
		out[i] = min(max(out[i], 0), 1)
	}
	return out
}

// distance returns the perceived difference of two linear colors (CIE76).
func distance(a, b rgb) float64 {
	x, y := lab(a), lab(b)
	return math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2])
}

func lab(c rgb) rgb {
	f := func(v float64) float64 {
		if v > 0.008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16.0/116
	}
	x := f((0.4124*c[0] + 0.3576*c[1] + 0.1805*c[2]) / 0.95047)
	y := f(0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2])
	z := f((0.0193*c[0] + 0.1192*c[1] + 0.9505*c[2]) / 1.08883)
	return rgb{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// Added and deleted, good and bad are distinct for every kind of color blindness. The default
// theme fails this check, which shows that it can fail.
func TestColorblind(t *testing.T) {
	pairs := [][2]paint.Color{{paint.Good, paint.Bad}, {paint.GoodBack, paint.BadBack}, {paint.Good, paint.Warn}}
	least := func(theme string, dark bool) float64 {
		look := New(theme, false)
		look.Dark = dark
		palette, worst := look.Palette(false), math.Inf(1)
		for _, m := range blindness {
			for _, p := range pairs {
				a, b := shown(t, palette[p[0]], colorprofile.TrueColor), shown(t, palette[p[1]], colorprofile.TrueColor)
				worst = min(worst, distance(seen(a, m), seen(b, m)))
			}
		}
		return worst
	}
	for _, dark := range []bool{true, false} {
		if got := least("colorblind", dark); got < 20 {
			t.Errorf("dark %v: two colors are only %.1f apart", dark, got)
		}
		if got := least("auto", dark); got >= 20 {
			t.Errorf("dark %v: the usual colors are %.1f apart: what is the theme for?", dark, got)
		}
	}
}

// A terminal with sixteen colors keeps its own; so does the theme "ansi".
func TestSixteenColors(t *testing.T) {
	for _, name := range Names() {
		for _, dark := range []bool{true, false} {
			look := New(name, false)
			look.Dark = dark
			for role, c := range look.Palette(true) {
				if c < paint.Index(0) || c > paint.Index(15) {
					t.Errorf("%s: color %d is %s", name, role.Slot(), c.Params(false))
				}
			}
		}
	}
}

func TestEveryThemeHasEveryColor(t *testing.T) {
	for _, name := range Names() {
		for _, role := range roles {
			if c := New(name, false).Palette(false)[role]; c == 0 && name != "ansi" && name != None {
				t.Errorf("%s has no color %d", name, role.Slot())
			}
		}
	}
}

// A theme named after its background keeps to it; the others follow the terminal.
func TestBackground(t *testing.T) {
	for name, follows := range map[string]bool{"auto": true, "high-contrast": true, "colorblind": true, "ansi": true, "dark": false, "light": false} {
		look := New(name, false)
		on := fmt.Sprint(look.Palette(false))
		look.Dark = false
		if got := fmt.Sprint(look.Palette(false)) != on; got != follows {
			t.Errorf("%s follows the background: %v", name, got)
		}
	}
}

func TestWithoutColors(t *testing.T) {
	for _, look := range []Look{New(None, false), New("dark", true)} {
		for _, s := range []Style{look.Styles.Dim, look.Styles.Accent, look.Styles.Good, look.Styles.Bad, look.Styles.Warn, look.Styles.User} {
			if got := Paint(s, "text"); got != "text" || !look.NoColor {
				t.Errorf("%q", got)
			}
		}
	}
	if got := Paint(New("dark", false).Styles.Bad, "text"); !strings.Contains(got, "\x1b[31m") {
		t.Errorf("%q", got)
	}
}

// The configuration accepts exactly these names.
func TestNamesAreThoseOfTheConfiguration(t *testing.T) {
	if _, err := config.Edit("config.yaml", nil, "interface.theme", "none such"); err == nil || !strings.HasSuffix(err.Error(), strings.Join(Names(), ", ")) {
		t.Errorf("%v, want %s", err, Names())
	}
}

// roles lists the colors of the program.
var roles = []paint.Color{
	paint.Bad, paint.Good, paint.Warn, paint.Keyword, paint.Code, paint.Dim, paint.String, paint.Name, paint.Accent, paint.Number, paint.Type,
	paint.Strong, paint.GoodBack, paint.BadBack, paint.GoodTint, paint.BadTint,
}
