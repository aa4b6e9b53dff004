package shell

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// pieces are the parts of random outputs.
var pieces = []string{"a", "line\n", "ä", "→", "🙂", "\xff", "\xe2\x82", strings.Repeat("x", 50), strings.Repeat("é\n", 30)}

// TestCapture compares with the simple implementation, for any output and any division
// into writes.
func TestCapture(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 60).Draw(t, "limit")
		all := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), ""))
		c := newCapture(limit, dir)
		for rest := all; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "write")
			c.Write(rest[:n])
			rest = rest[n:]
		}
		got := c.Finish()
		if len(c.head)+len(c.tail) > 3*c.part {
			t.Fatalf("holds %d bytes for %d characters", len(c.head)+len(c.tail), limit)
		}
		if strings.HasPrefix(got.Text, "[binary") {
			expectFile(t, got.File, all)
			return // see TestBinary
		}
		if utf8.RuneCount(all) <= limit {
			if got.Text != text.Output(all, "") || got.Omitted != 0 || got.File != "" {
				t.Fatalf("all of %q fits %d, got %+v", all, limit, got)
			}
			return
		}
		first, last := firstRunes(all, limit/2), lastRunes(all, limit-limit/2)
		if got.Omitted != int64(len(all)-len(first)-len(last)) || got.Omitted <= 0 ||
			!strings.HasPrefix(got.Text, text.Output(first, "")+"\n[… ") || !strings.HasSuffix(got.Text, " …]\n"+text.Output(last, "")) {
			t.Fatalf("limit %d of %q: %+v", limit, all, got)
		}
		expectFile(t, got.File, all)
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left %d files, %v", len(left), err)
	}
}

// expectFile checks a spilled file and removes it.
func expectFile(t *rapid.T, path string, want []byte) {
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("spilled %q, %v; want %q", got, err, want)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func TestBinary(t *testing.T) {
	tests := map[string]struct {
		in   string
		want bool
	}{
		"empty":              {"", false},
		"text":               {"plain\n", false},
		"NUL list":           {"internal/a.go\x00internal/b.go\x00", false},
		"Latin-1 text":       {"un caf\xe9 noir, deux caf\xe9s", false},
		"cut character":      {"abc\xe2\x82", false},
		"machine code":       {"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00", true},
		"compressed":         {"\x1f\x8b\x08\x00\xd7\xc6\x9f\xff\x03\xcb", true},
		"UTF-16":             {"a\x00b\x00c\x00", true},
		"binary far behind":  {strings.Repeat("text\n", 2000) + strings.Repeat("\x00", 500), false},
		"one NUL, nothing":   {"\x00", true},
		"replacement itself": {"\uFFFD\uFFFD\uFFFD", false},
	}
	for name, tt := range tests {
		if got := text.IsBinary([]byte(tt.in), ""); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestBinaryOutputGoesToAFile(t *testing.T) {
	c := newCapture(100, t.TempDir())
	data := bytes.Repeat([]byte{0, 1, 2, 0xff}, 10)
	c.Write(data)
	got := c.Finish()
	onDisk, err := os.ReadFile(got.File)
	if err != nil || !bytes.Equal(onDisk, data) || got.Omitted != 40 ||
		got.Text != "[binary output, 40 bytes, not shown; the whole output is in "+got.File+"]" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAmount(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1,000 bytes", 1234567: "1,234,567 bytes",
	} {
		if got := amount(n); got != want {
			t.Errorf("amount(%d) = %q", n, got)
		}
	}
}

// TestOutputInAnotherEncoding: the setting counts for each line that is not UTF-8, as each may come
// from another file.
func TestOutputInAnotherEncoding(t *testing.T) {
	gbk := "\xd6\xd0\xce\xc4\xce\xc4\xb1\xbe" // 中文文本
	for _, tt := range []struct {
		name, out, want string
		encoding        text.Encoding
	}{
		{"the default", "caf\xe9 \x80\ngr\u00f6\u00dfe\n", "café €\ngröße\n", text.Latin1},
		{"unknown", "one caf\xe9, please\n", "one caf\ufffd, please\n", ""},
		{"GBK", gbk + "\n" + gbk + "\r\n中 and UTF-8\n", "中文文本\n中文文本\r\n中 and UTF-8\n", "gbk"},
		{"UTF-8 with a stray byte", "größe \xff\n", "größe \ufffd\n", "gbk"},
		{"a character of GBK cut off", "ok \xd6\xd0\xce\xc4\xce", "ok 中文\ufffd", "gbk"},
		{"Cyrillic", "\xf0\xd2\xc9\xd7\xc5\xd4\n", "Привет\n", "koi8-r"},
	} {
		c := Options{SpillDir: t.TempDir()}.capture(tt.encoding)
		c.Write([]byte(tt.out))
		if got := c.Finish(); got.Text != tt.want || got.Omitted != 0 {
			t.Errorf("%s: %+v, want %q", tt.name, got, tt.want)
		}
	}
	c := Options{SpillDir: t.TempDir()}.capture("koi8-r")
	c.Write([]byte("\x1f\x8b\x08\x00\xd7\xc6\x9f\xff\x03\xcb\x01\x02\x05"))
	if got := c.Finish(); !strings.HasPrefix(got.Text, "[binary output") {
		t.Errorf("compressed: %+v", got)
	}
}
