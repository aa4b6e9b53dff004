package workspace_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/htmlindex"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

func TestFormatIsDetected(t *testing.T) {
	tests := []struct {
		name, content, text string
		format              workspace.Format
	}{
		{"empty", "", "", workspace.Format{Encoding: workspace.UTF8, EOL: "\n"}},
		{"ascii", "a\nb\n", "a\nb\n", workspace.Format{Encoding: workspace.UTF8, EOL: "\n"}},
		{"crlf", "a\r\nb\r\n", "a\r\nb\r\n", workspace.Format{Encoding: workspace.UTF8, EOL: "\r\n"}},
		{"mostly crlf", "a\r\nb\r\nc\n", "a\r\nb\r\nc\n", workspace.Format{Encoding: workspace.UTF8, EOL: "\r\n"}},
		{"mixed evenly", "a\r\nb\n", "a\r\nb\n", workspace.Format{Encoding: workspace.UTF8, EOL: "\n"}},
		{"utf-8", "größe\n", "größe\n", workspace.Format{Encoding: workspace.UTF8, EOL: "\n"}},
		{"utf-8 with mark", "\xef\xbb\xbfa\n", "a\n", workspace.Format{Encoding: workspace.UTF8, BOM: true, EOL: "\n"}},
		{"utf-16le", "\xff\xfea\x00\r\x00\n\x00", "a\r\n", workspace.Format{Encoding: workspace.UTF16LE, BOM: true, EOL: "\r\n"}},
		{"utf-16be", "\xfe\xff\x00a\xd8\x3d\xde\x00", "a😀", workspace.Format{Encoding: workspace.UTF16BE, BOM: true, EOL: "\n"}},
		{"latin-1", "caf\xe9\xa4\n", "café¤\n", workspace.Format{Encoding: workspace.Latin1, EOL: "\n"}},
		{"windows-1252", "caf\xe9\x80 \x93x\x94\x81\n", "café€ “x”\U0010fe81\n", workspace.Format{Encoding: "windows-1252", EOL: "\n"}},
		{"stray", "größe \xff\r\n", "größe \U0010feff\r\n", workspace.Format{Encoding: workspace.StrayUTF8, EOL: "\r\n"}},
		{"stray with mark", "\xef\xbb\xbfcaf\xe9\n", "caf\U0010fee9\n", workspace.Format{Encoding: workspace.StrayUTF8, BOM: true, EOL: "\n"}},
		{"cut off", "日本\xe8\xaa", "日本\U0010fee8\U0010feaa", workspace.Format{Encoding: workspace.StrayUTF8, EOL: "\n"}},
		{"overlong", "é é \xc0\x80", "é é \U0010fec0\U0010fe80", workspace.Format{Encoding: workspace.StrayUTF8, EOL: "\n"}},
		{"a stray byte far below", strings.Repeat("é", 40_000) + "\xff", strings.Repeat("é", 40_000) + "\U0010feff", workspace.Format{Encoding: workspace.StrayUTF8, EOL: "\n"}},
		{"latin-1 far below", strings.Repeat("x", 40_000) + "caf\xe9 \x80\n", strings.Repeat("x", 40_000) + "café €\n", workspace.Format{Encoding: "windows-1252", EOL: "\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := open(t)
			w.Write("f", tt.content)
			f, err := w.Read("f")
			must(t, err)
			if f.Text != tt.text || f.Format != tt.format || f.Size != int64(len(tt.content)) {
				t.Errorf("text %q, format %+v, size %d", f.Text, f.Format, f.Size)
			}
			s, err := w.Open("f")
			must(t, err)
			defer s.Close()
			if s.Info.Format != tt.format || s.Binary {
				t.Errorf("stream has format %+v, binary %v", s.Info.Format, s.Binary)
			}
			var text strings.Builder
			for line, err := range s.Lines(1<<20, 1<<20) {
				must(t, err)
				text.WriteString(line.Text + "\n")
			}
			want := strings.ReplaceAll(tt.text, "\r\n", "\n")
			if want != "" && !strings.HasSuffix(want, "\n") {
				want += "\n"
			}
			if text.String() != want {
				t.Errorf("stream has %q, want %q", text.String(), want)
			}
		})
	}
}

// TestEncodingIsAskedFor: Asked is called for files whose bytes do not show their
// encoding, and only for text.
func TestEncodingIsAskedFor(t *testing.T) {
	var asked []string
	answer := workspace.Encoding("shift_jis")
	w := reopen(t, t.TempDir(), t.TempDir(), workspace.Options{Asked: func(path string) workspace.Encoding {
		asked = append(asked, path)
		return answer
	}})
	for name, content := range map[string]string{"plain": "a\n", "utf8": "größe\n", "marked": "\xff\xfea\x00", "binary": "\x00\x93\xfa", "control": "\x93\x01\x02\x03\x04\x05"} {
		w.Write(name, content)
		_, err := w.Read(name)
		if err != nil && !errors.Is(err, workspace.ErrNotText) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(asked) != 0 {
		t.Errorf("asked about %q", asked)
	}
	w.Write("sjis", "\x93\xfa\x96\x7b\n")
	f, err := w.Read("sjis")
	must(t, err)
	s, err := w.Open("sjis")
	must(t, err)
	must(t, s.Close())
	if f.Text != "日本\n" || f.Format.Encoding != answer || s.Info.Format.Encoding != answer || len(asked) != 2 || asked[0] != f.Path {
		t.Errorf("read %q as %s and %s, asked about %q", f.Text, f.Format.Encoding, s.Info.Format.Encoding, asked)
	}
	for _, answer = range []workspace.Encoding{"", "klingon"} {
		f, err := w.Read("sjis")
		must(t, err)
		if f.Format.Encoding != "windows-1252" {
			t.Errorf("the answer %q gave %s", answer, f.Format.Encoding)
		}
	}
}

func TestNotText(t *testing.T) {
	for name, content := range map[string]string{
		"NUL":                 "a\x00b",
		"many controls":       "\x01\x02\xff\x03\x04",
		"odd utf-16":          "\xff\xfea\x00b",
		"lone surrogate":      "\xff\xfe\x00\xd8a\x00",
		"binary after a mark": "\xef\xbb\xbf\xff\x01\x02",
		"NUL in utf-16":       "\xff\xfea\x00\x00\x00",
	} {
		w := open(t)
		w.Write("f", content)
		if f, err := w.Read("f"); !errors.Is(err, workspace.ErrNotText) {
			t.Errorf("%s: read gives %q, %v", name, f.Text, err)
		}
		if _, err := w.Propose("f", func(workspace.File) (string, error) { return "x", nil }); !errors.Is(err, workspace.ErrNotText) {
			t.Errorf("%s: propose gives %v", name, err)
		}
	}
}

// TestLossIsRefusedWithItsPlace: the person learns which byte is in the way, and which setting
// names another encoding.
func TestLossIsRefusedWithItsPlace(t *testing.T) {
	w := reopen(t, t.TempDir(), t.TempDir(), workspace.Options{Fallback: "shift_jis"})
	for content, says := range map[string]string{
		"abc\n\x93\xfa\xff\n":        `the byte 0xff at offset 6 cannot be read as shift_jis without loss; if it is stored in another encoding, name that in the setting "encoding"`,
		"é é é \xff and \U0010feff":  `the byte 0xf4 at offset 15 cannot be read as utf-8 with stray bytes without loss; if`,
		"\xff\xfea\x00\x00\xd8b\x00": "the byte 0x00 at offset 4 cannot be read as utf-16le without loss",
		"\xff\xfea\x00b":             "the byte 0x62 at offset 4 cannot be read as utf-16le without loss",
	} {
		w.Write("f", content)
		_, err := w.Propose("f", func(workspace.File) (string, error) { return "x", nil })
		if !errors.Is(err, workspace.ErrNotText) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %s", content, err, says)
		}
	}
}

func TestFallbackEncoding(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	w := reopen(t, dir, home, workspace.Options{Fallback: "shift_jis"})
	w.Write("f", "\x93\xfa\x96\x7b\r\n")
	f := w.Edit("f", "日本語\r\n", workspace.Origin{})
	if f.Format.Encoding != "shift_jis" || w.Content("f") != "\x93\xfa\x96\x7b\x8c\xea\r\n" {
		t.Errorf("%+v, %q", f.Format, w.Content("f"))
	}
	if _, err := workspace.Open(dir, workspace.Options{Fallback: "klingon"}); err == nil || !strings.Contains(err.Error(), "klingon") {
		t.Errorf("unknown encoding: %v", err)
	}
}

func TestUnencodableIsRefusedWithItsPlace(t *testing.T) {
	tests := []struct{ name, content, after, says string }{
		{"latin-1", "caf\xe9\n", "café\nfür 5 €\n", `line 2 holds '€' (U+20AC), which iso-8859-1 cannot store`},
		{"NUL", "a\n", "a\nb\nc\x00\n", "line 3 holds a NUL character"},
		{"invalid", "a\n", "a\xff\n", "line 1 holds the byte 0xff"},
		{"invalid in utf-16", "\xff\xfea\x00", "a\xff\n", "line 1 holds the byte 0xff"},
	}
	for _, tt := range tests {
		w := open(t)
		w.Write("f", tt.content)
		_, err := w.Propose("f", func(workspace.File) (string, error) { return tt.after, nil })
		if !errors.Is(err, workspace.ErrUnencodable) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: propose: %v", tt.name, err)
		}
		c := workspace.NewContent(w.Change("f", "a"), tt.after) // a text by the reviewer
		if _, err := w.Commit(t.Context(), c, workspace.Origin{}); !errors.Is(err, workspace.ErrUnencodable) {
			t.Errorf("%s: commit: %v", tt.name, err)
		}
		if got := w.Content("f"); got != tt.content {
			t.Errorf("%s: file holds %q", tt.name, got)
		}
	}
}

// TestBytesOutsideTheEditAreKept replaces one word in random files of 24 encodings, and of UTF-8
// with other bytes in between, with and without byte order mark, with any mix of line endings and
// modes: all other bytes must stay.
func TestBytesOutsideTheEditAreKept(t *testing.T) {
	encodings := []workspace.Encoding{
		workspace.UTF8, workspace.UTF16LE, workspace.UTF16BE, workspace.Latin1,
		"windows-1252", "iso-8859-15", "koi8-r", "windows-1251", "shift_jis", "euc-jp", "gbk", "big5",
		"gb18030", "euc-kr", "iso-8859-2", "iso-8859-5", "iso-8859-7", "windows-1250", "windows-1253", "windows-1254",
		"windows-1258", "koi8-u", "ibm866", "macintosh", workspace.StrayUTF8,
	}
	files, start := stress.Size(240, 3000), stress.Seed(t)
	rng := rand.New(rand.NewPCG(start, 5))
	home := t.TempDir()
	for i := range files {
		enc := encodings[i%len(encodings)]
		before, after := sample(t, rng, enc)
		w := reopen(t, t.TempDir(), home, workspace.Options{Fallback: fallback(enc)})
		w.Write("f", before)
		mode := []os.FileMode{0o644, 0o755, 0o600, 0o664, 0o4755}[rng.IntN(5)]
		must(t, os.Chmod(w.Path("f"), mode))
		old, err := os.Stat(w.Path("f")) // Windows knows two modes
		must(t, err)
		c, err := w.Propose("f", func(f workspace.File) (string, error) { return strings.Replace(f.Text, "OLD", "NEW", 1), nil })
		must(t, err)
		_, err = w.Commit(t.Context(), c, workspace.Origin{})
		must(t, err)
		if got := w.Content("f"); got != after {
			t.Fatalf("seed %d, file %d, %s: %q became %q, want %q", start, i, enc, before, got, after)
		}
		info, err := os.Stat(w.Path("f"))
		must(t, err)
		if info.Mode().Perm() != old.Mode().Perm() {
			t.Fatalf("mode %v became %v", old.Mode(), info.Mode())
		}
		w.undo(undo.LastChange)
		if got := w.Content("f"); got != before {
			t.Fatalf("seed %d, file %d: undo gives %q, want %q", start, i, got, before)
		}
	}
	t.Logf("load: %d files, seed %d", files, start)
}

// fallback returns the setting that a file in enc needs if it has no mark.
func fallback(enc workspace.Encoding) workspace.Encoding {
	if enc == workspace.UTF8 || enc == workspace.StrayUTF8 {
		return ""
	}
	return enc
}

// sample returns a file with the word OLD, and the same with NEW.
func sample(t *testing.T, rng *rand.Rand, enc workspace.Encoding) (before, after string) {
	t.Helper()
	eols := [][]string{{"\n"}, {"\r\n"}, {"\n", "\r\n"}, {"\n", "\r"}}[rng.IntN(4)]
	words := map[workspace.Encoding][]string{
		workspace.Latin1: {"café", "straße"}, "windows-1252": {"€ “x”", "é"}, "iso-8859-15": {"€", "œ"},
		"koi8-r": {"привет", "мир"}, "windows-1251": {"привет", "Ё"}, "shift_jis": {"日本", "カナ"},
		"euc-jp": {"日本", "かな"}, "gbk": {"中文", "汉字"}, "big5": {"中文", "漢字"},
		"gb18030": {"中文", "€", "😀", "ö"}, "euc-kr": {"한국", "글"}, "iso-8859-2": {"łódź", "žluť"}, "iso-8859-5": {"привет", "№"},
		"iso-8859-7": {"καλή", "€"}, "windows-1250": {"łódź", "“x”"}, "windows-1253": {"καλή", "…"}, "windows-1254": {"ışık", "Ğ"},
		"windows-1258": {"đ", "ơ"}, "koi8-u": {"їжак", "ґ"}, "ibm866": {"привет", "║"}, "macintosh": {"café", "≠ “x”"},
		workspace.StrayUTF8: {"größe", "日本", "😀", "a\xffb", "caf\xe9", "\xc0\x80", "\xed\xa0\x80", "\xe6\x97", "\x80", "\U0010fff0"},
	}[enc]
	if words == nil {
		words = []string{"größe", "日本", "😀", "\u200b"}
	}
	words = append(words, "plain", "\ttab", "x  ")
	var b strings.Builder
	lines := 1 + rng.IntN(20)
	at := rng.IntN(lines)
	for i := range lines {
		b.WriteString(words[rng.IntN(len(words))])
		if i == at {
			b.WriteString(" OLD " + words[0])
		}
		if i < lines-1 || rng.IntN(2) == 0 {
			b.WriteString(eols[rng.IntN(len(eols))])
		}
	}
	mark := ""
	if rng.IntN(2) == 0 || enc == workspace.UTF16LE || enc == workspace.UTF16BE {
		mark = map[workspace.Encoding]string{workspace.UTF8: "\xef\xbb\xbf", workspace.StrayUTF8: "\xef\xbb\xbf", workspace.UTF16LE: "\xff\xfe", workspace.UTF16BE: "\xfe\xff"}[enc]
	}
	text := b.String()
	return mark + encoded(t, text, enc), mark + encoded(t, strings.Replace(text, "OLD", "NEW", 1), enc)
}

// encoded encodes text by other means than the workspace.
func encoded(t *testing.T, text string, enc workspace.Encoding) string {
	t.Helper()
	switch enc {
	case workspace.UTF8, workspace.StrayUTF8:
		return text
	case workspace.Latin1:
		var b []byte
		for _, r := range text {
			b = append(b, byte(r))
		}
		return string(b)
	}
	codec, err := htmlindex.Get(string(enc))
	must(t, err)
	out, err := codec.NewEncoder().String(text)
	must(t, err)
	return strings.TrimPrefix(strings.TrimPrefix(out, "\xff\xfe"), "\xfe\xff")
}

// TestAnyBytesSurvive reads random bytes: either they are refused as not text, or writing
// the text back with one more letter keeps them all.
func TestAnyBytesSurvive(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := open(t)
		piece := rapid.SampledFrom([]string{"a", "\n", "\r\n", "é", "\xe9", "\xff", "\xfe", "\xef\xbb\xbf", "\x00", "\x80", "日", "\xd8"})
		before := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(rt, "bytes"), "")
		w.Write("f", before)
		f, err := w.Read("f")
		if errors.Is(err, workspace.ErrNotText) {
			return
		}
		must(t, err)
		w.Edit("f", f.Text+"z", workspace.Origin{})
		tail := map[workspace.Encoding]string{workspace.UTF16LE: "z\x00", workspace.UTF16BE: "\x00z"}[f.Format.Encoding]
		if tail == "" {
			tail = "z"
		}
		if diff := cmp.Diff(before+tail, w.Content("f")); diff != "" {
			rt.Fatal(diff)
		}
	})
}
