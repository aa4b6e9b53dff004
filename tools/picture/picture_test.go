package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
)

func screen(t *testing.T, width, height int, output string) *vt.Terminal {
	t.Helper()
	m := vt.New(vt.Options{Width: width, Height: height})
	if _, err := m.Write([]byte(output)); err != nil {
		t.Fatal(err)
	}
	if unknown := m.Stats().Unknown; len(unknown) > 0 {
		t.Fatalf("the model does not know %q", unknown)
	}
	return m
}

// texts returns the attributes x, y and fill, and the text, of each text of a
// picture but its title.
func texts(t *testing.T, svg []byte) [][4]string {
	t.Helper()
	var out [][4]string
	in := ""
	dec := xml.NewDecoder(bytes.NewReader(svg))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return out[1:]
		}
		if err != nil {
			t.Fatalf("no XML: %v\n%s", err, svg)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			in = tok.Name.Local
			if tok.Name.Local == "text" {
				out = append(out, [4]string{attribute(tok, "x"), attribute(tok, "y"), attribute(tok, "fill"), ""})
			}
		case xml.EndElement:
			in = ""
		case xml.CharData:
			if s := strings.TrimSuffix(string(tok), "\n"); s != "" && in == "text" && len(out) > 0 {
				out[len(out)-1][3] += s
			}
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func TestTextStandsInItsCell(t *testing.T) {
	m := screen(t, 20, 5, "\r\n\x1b[31mred\x1b[0m plain   far\r\n❯ <&> 日本\x1b[?25l")
	want := [][4]string{
		{"16", "49", "#e06c75", "red"},
		{"49.72", "49", "", "plain"},
		{"117.16", "49", "", "far"},
		{"16", "69", "", "❯"},
		{"32.86", "69", "", "<&>"},
		{"66.58", "69", "", "日"},
		{"83.44", "69", "", "本"},
	}
	if diff := cmp.Diff(want, texts(t, SVG(m, Options{Title: "T <1>"}))); diff != "" {
		t.Error(diff)
	}
}

// Rows above the first one wanted and blank ones at both ends are left out; the window
// is as high as its rows.
func TestRows(t *testing.T) {
	m := screen(t, 10, 8, "\r\nfirst\r\n\r\nthird\r\nfourth")
	for _, tt := range []struct {
		from   string
		height string
		rows   int
	}{
		{"", "130", 3},
		{"third", "90", 2},
		{"not there", "150", 3},
	} {
		svg := SVG(m, Options{From: tt.from})
		if got := texts(t, svg); len(got) != tt.rows {
			t.Errorf("from %q: %v", tt.from, got)
		}
		if !bytes.Contains(svg, []byte(`height="`+tt.height+`" viewBox`)) {
			t.Errorf("from %q: not %s high: %.120s", tt.from, tt.height, svg)
		}
	}
}

func TestGroundsAndCursor(t *testing.T) {
	shown := string(SVG(screen(t, 10, 2, "a\x1b[42m  \x1b[0mb"), Options{}))
	if !strings.Contains(shown, `<rect x="24.43" y="34" width="16.86" height="20" fill="#98c379"/>`) {
		t.Errorf("no green ground:\n%s", shown)
	}
	const cursor = `<rect x="49.72" y="35" width="8.43" height="18"`
	if !strings.Contains(shown, cursor) {
		t.Errorf("no cursor:\n%s", shown)
	}
	if hidden := string(SVG(screen(t, 10, 2, "a\x1b[42m  \x1b[0mb\x1b[?25l"), Options{})); strings.Contains(hidden, cursor) {
		t.Error("a hidden cursor is drawn")
	}
}

func TestTheSameScreenGivesTheSameBytes(t *testing.T) {
	const output = "\x1b[1;38;5;114mone\x1b[0m\r\n\x1b[48;2;1;2;3mtwo"
	a, b := SVG(screen(t, 30, 4, output), Options{Title: "x"}), SVG(screen(t, 30, 4, output), Options{Title: "x"})
	if !bytes.Equal(a, b) {
		t.Error(cmp.Diff(string(a), string(b)))
	}
}

func TestLooks(t *testing.T) {
	for _, tt := range []struct {
		style string
		want  look
	}{
		{"", look{}},
		{"1;2;3;4;9", look{bold: true, faint: true, italic: true, underlined: true, struck: true}},
		{"21", look{underlined: true}},
		{"31;42", look{fore: palette[1], back: palette[2]}},
		{"97;100", look{fore: palette[15], back: palette[8]}},
		{"38;2;255;0;16;1", look{fore: "#ff0010", bold: true}},
		{"48;5;1", look{back: palette[1]}},
		{"48;5;16", look{back: "#000000"}},
		{"38;5;208", look{fore: "#ff8700"}},
		{"38;5;232", look{fore: "#080808"}},
		{"38;5;255", look{fore: "#eeeeee"}},
		{"58;5;1;3", look{italic: true}},
		{"7", look{fore: background, back: foreground}},
		{"7;31;42", look{fore: palette[2], back: palette[1]}},
		{"38;2;999;1;1", look{fore: "#000101"}},
		{"38;9", look{struck: true}},
		{"4:3;1", look{bold: true}},
		{"5;8", look{}},
	} {
		if diff := cmp.Diff(tt.want, lookOf(tt.style), cmp.AllowUnexported(look{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q: %s", tt.style, diff)
		}
	}
}

func TestAttributes(t *testing.T) {
	all := look{fore: "#010203", back: "#ffffff", bold: true, faint: true, italic: true, underlined: true, struck: true}
	want := ` fill="#010203" font-weight="bold" opacity="0.6" font-style="italic" text-decoration="underline" text-decoration="line-through"`
	if got := all.attributes(); got != want {
		t.Errorf("%s", got)
	}
	if got := (look{}).attributes(); got != "" {
		t.Errorf("of no style: %s", got)
	}
}
