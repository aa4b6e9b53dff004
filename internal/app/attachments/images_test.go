package attachments

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/imagefile"
	"github.com/bb2d0cf4/agent/internal/llm"
)

// gallery is a folder of images, and the notes shown to the user.
type gallery struct {
	Images
	notes []string
	takes bool
}

func newGallery(t *testing.T) *gallery {
	t.Helper()
	g := &gallery{takes: true}
	g.Dir = t.TempDir()
	g.Tell = func(note string) { g.notes = append(g.notes, note) }
	g.Takes = func() (string, bool) { return "corp/m", g.takes }
	for name, data := range map[string][]byte{
		"shot.png": pngOf(t, 120, 80), "my shot.png": pngOf(t, 3, 4), "text.png": []byte("no image"), "big.png": append(pngOf(t, 3, 4), make([]byte, 5<<20/4*3)...),
	} {
		scratch.Write(t, filepath.Join(g.Dir, name), string(data))
	}
	if err := os.Mkdir(filepath.Join(g.Dir, "folder.png"), 0o700); err != nil {
		t.Fatal(err)
	}
	return g
}

func pngOf(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Paths are written as people and terminals write them. One that is only mentioned is
// not attached.
func TestAttach(t *testing.T) {
	g := newGallery(t)
	escaped, url := "my shot.png 3×4]", "file://"+g.Dir
	if runtime.GOOS == "windows" { // where a backslash begins the next name
		escaped, url = "", "file:///"+filepath.ToSlash(g.Dir)
	}
	for text, want := range map[string]string{
		g.Dir + "/shot.png":                   "shot.png 120×80]",
		"'" + g.Dir + "/my shot.png' ":        "my shot.png 3×4]",
		g.Dir + `/my\ shot.png`:               escaped,
		url + "/my%20shot.png":                "my shot.png 3×4]",
		"./shot.png":                          "shot.png 120×80]",
		"@shot.png":                           "shot.png 120×80]",
		`@"my shot.png"`:                      "my shot.png 3×4]",
		"shot.png":                            "",
		g.Dir + "/none.png":                   "",
		g.Dir:                                 "",
		"/etc/passwd":                         "",
		"":                                    "",
		"two\n" + g.Dir + "/shot.png":         "",
		strings.Repeat("/x", 4000) + "/a.png": "",
	} {
		mark, ok := g.Attach(text)
		if ok != (want != "") || !strings.HasSuffix(mark, want) || ok && !strings.HasPrefix(mark, "[image ") {
			t.Errorf("%.80q: %q, %v", text, mark, ok)
		}
	}
	if g.notes != nil {
		t.Errorf("notes %q", g.notes)
	}
	mark, _ := g.Attach("./shot.png")
	if again, ok := g.Attach(mark); !ok || again != mark {
		t.Errorf("the placeholder of a placeholder is %q", again)
	}
}

func TestWhatCannotBeAttached(t *testing.T) {
	g := newGallery(t)
	for name, why := range map[string]string{"text.png": "not a PNG", "big.png": "larger than 3.75 MB", "folder.png": "not a regular file"} {
		g.notes = nil
		if mark, ok := g.Attach("./" + name); ok || len(g.notes) != 1 || !strings.Contains(g.notes[0], why) {
			t.Errorf("%s: %q, notes %q", name, mark, g.notes)
		}
	}
}

func TestParts(t *testing.T) {
	g := newGallery(t)
	one, _ := g.Attach("./shot.png")
	two, _ := g.Attach(`@"my shot.png"`)
	if got := g.Parts("no image"); got != nil {
		t.Errorf("%v", got)
	}
	if got := g.Parts("[image 9: x.png 1×1]"); got != nil {
		t.Errorf("%v", got)
	}
	want := []llm.Part{
		{Kind: llm.ImagePart, Mime: "image/png", Data: pngOf(t, 3, 4)}, {Kind: llm.ImagePart, Mime: "image/png", Data: pngOf(t, 120, 80)},
	}
	if d := cmp.Diff(want, g.Parts("first "+two+" then "+one)); d != "" {
		t.Error(d)
	}
	g.takes = false
	if got := g.Parts(one); len(got) != 1 || !got[0].Aside || !strings.Contains(got[0].Text, "cannot be shown") {
		t.Errorf("%v", got)
	}
	if g.Attach("./shot.png"); len(g.notes) != 1 || !strings.Contains(g.notes[0], "corp/m may not accept images") {
		t.Errorf("notes %q", g.notes)
	}
}

func TestPasteOfAnImage(t *testing.T) {
	g := newGallery(t)
	data, fail := pngOf(t, 7, 9), error(nil)
	g.Clip = func(_ context.Context, limit int) ([]byte, error) {
		if limit != imagefile.MaxSize {
			t.Errorf("limit %d", limit)
		}
		return data, fail
	}
	if mark, err := g.Paste(t.Context()); mark != "[image 1: clipboard 7×9]" || err != nil {
		t.Errorf("%q, %v", mark, err)
	}
	fail = errors.New("no image")
	if _, err := g.Paste(t.Context()); !errors.Is(err, fail) {
		t.Errorf("%v", err)
	}
	data, fail = pngOf(t, 8001, 1), nil
	if _, err := g.Paste(t.Context()); err == nil || !strings.Contains(err.Error(), "8001×1 pixels") {
		t.Errorf("%v", err)
	}
	data, fail = []byte("text"), nil
	if _, err := g.Paste(t.Context()); err == nil {
		t.Error("text was taken for an image")
	}
}

// TestFileOfURL: the URL of a file on Windows names a drive behind a slash, or another machine.
func TestFileOfURL(t *testing.T) {
	for _, c := range []struct {
		text    string
		windows bool
		want    string
	}{
		{"file:///home/me/a%20b.png", false, "/home/me/a b.png"},
		{"file:///C:/a.png", false, "/C:/a.png"},
		{"file:///C:/Users/me/a%20b.png", true, `C:\Users\me\a b.png`},
		{"file://localhost/c:/a.png", true, `c:\a.png`},
		{"file://host/share/a.png", true, `\\host\share\a.png`},
	} {
		u, err := url.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := fileOf(u, c.windows); got != c.want {
			t.Errorf("%s (Windows: %v) is %s, want %s", c.text, c.windows, got, c.want)
		}
	}
}
