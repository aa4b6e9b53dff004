package imagefile

import (
	"bytes"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"
)

// encoded returns an image of 5×6 pixels in each format of the standard library.
func encoded(t testing.TB) map[string][]byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 5, 6))
	var p, j, g bytes.Buffer
	if err := errors.Join(png.Encode(&p, img), jpeg.Encode(&j, img, nil), gif.Encode(&g, img, nil)); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"image/png": p.Bytes(), "image/jpeg": j.Bytes(), "image/gif": g.Bytes()}
}

func webp(chunk string, body ...byte) []byte {
	return append([]byte("RIFF\x00\x00\x00\x00WEBP"+chunk+"\x00\x00\x00\x00"), append(body, make([]byte, 20)...)...)
}

func TestParse(t *testing.T) {
	check := func(name, mime string, data []byte) {
		if img, err := Parse(data); img != (Image{mime, 5, 6}) || err != nil {
			t.Errorf("%s: %+v, %v", name, img, err)
		}
		if !Begins(data[:16]) {
			t.Errorf("%s is not recognized by its beginning", name)
		}
	}
	for mime, data := range encoded(t) {
		check(mime, mime, data)
		if img, err := Parse(data[:len(data)-4]); !errors.Is(err, errCutOff) || img != (Image{mime, 5, 6}) {
			t.Errorf("%s without its end: %+v, %v", mime, img, err)
		}
	}
	check("a GIF with more behind its end", "image/gif", append(encoded(t)["image/gif"], "made by a tool\n"...))
	check("lossy", "image/webp", webp("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 5, 0, 6, 0))
	check("lossless", "image/webp", webp("VP8L", 0x2f, 4, 0x40, 1, 0))
	check("extended", "image/webp", webp("VP8X", 0, 0, 0, 0, 4, 0, 0, 5, 0, 0))
	cut := webp("VP8L", 0x2f, 4, 0x40, 1, 0)
	cut[4] = 200
	for _, data := range [][]byte{nil, []byte("RIFF"), webp("ABCD"), encoded(t)["image/jpeg"][:20], cut, []byte("GIF89a")} {
		if _, err := Parse(data); err == nil {
			t.Errorf("%q was parsed", data)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, data := range encoded(f) {
		f.Add(data)
	}
	f.Add(webp("VP8X", 0, 0, 0, 0, 4, 0, 0, 5, 0, 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		if img, err := Parse(data); err == nil && (img.Mime == "" || img.Width < 0 || img.Height < 0) {
			t.Errorf("%+v of %q", img, data)
		}
	})
}
