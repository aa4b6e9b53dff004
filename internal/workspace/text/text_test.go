package text

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var all = []Encoding{
	UTF8, UTF16LE, UTF16BE, Latin1, "windows-1252", "iso-8859-15", "koi8-r", "windows-1251",
	"shift_jis", "euc-jp", "gbk", "big5", "gb18030", "iso-2022-jp", "macintosh",
}

// TestDecodedBytesComeBack decodes random bytes in any encoding: they are refused, or
// encoding the text gives them back.
func TestDecodedBytesComeBack(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"a", "\n", "\r\n", "é", "\xe9", "\xff", "\xfe", "\xef\xbb\xbf", "\x00", "\x81", "日", "\xd8", "\x1b", "\x93\xfa"})
		data := []byte(strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "bytes"), ""))
		fallback := rapid.SampledFrom(all).Draw(t, "fallback")
		f, text, err := Decode(data, Fallback{Encoding: fallback})
		if errors.Is(err, ErrNotText) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		taken++
		back, err := Encode(text, f)
		if err != nil || string(back) != string(data) {
			t.Fatalf("%q as %+v is %q, and that is %q, %v", data, f, text, back, err)
		}
	})
	if taken == 0 {
		t.Error("all bytes were refused")
	}
}

// TestEncodedTextComesBack encodes random text: it is refused, or decoding gives it back.
func TestEncodedTextComesBack(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab é€日本カ中привет😀\u200b\n\r\x00\ufeff"))).Draw(t, "text")
		f := Format{Encoding: rapid.SampledFrom(all).Draw(t, "encoding"), BOM: rapid.Bool().Draw(t, "mark")}
		data, err := Encode(text, f)
		if errors.Is(err, ErrUnencodable) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeAs(data, f)
		if err != nil || back != text {
			// Some encodings write two characters alike; such a file is refused when it
			// is read.
			if errors.Is(err, ErrNotText) || f.Encoding != UTF8 && f.Encoding != UTF16LE && f.Encoding != UTF16BE {
				return
			}
			t.Fatalf("%q as %+v is %q, and that is %q, %v", text, f, data, back, err)
		}
		taken++
	})
	if taken == 0 {
		t.Error("all texts were refused")
	}
}

func TestCheck(t *testing.T) {
	for _, e := range all {
		if err := Check(e); err != nil {
			t.Errorf("%s: %v", e, err)
		}
	}
	if err := Check("klingon"); err == nil {
		t.Error("klingon is known")
	}
}

// TestCodePages: VS Code knows encodings that browsers do not.
func TestCodePages(t *testing.T) {
	for _, name := range []Encoding{"cp437", "cp850", "cp852", "cp865"} {
		got, err := DecodeAs([]byte("caf\x82\n"), Format{Encoding: name})
		if err != nil || got != "café\n" {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestReaderJudgesTheHead(t *testing.T) {
	long := strings.Repeat("x", headSize-1)
	tests := []struct {
		name, content string
		format        Format
		binary        bool
	}{
		{"empty", "", Format{Encoding: UTF8, EOL: "\n"}, false},
		{"a character across the end of the head", long + "é\r\n", Format{Encoding: UTF8, EOL: "\n"}, false},
		{"crlf", "a\r\n" + long, Format{Encoding: UTF8, EOL: "\r\n"}, false},
		{"cr", "a\rb\r", Format{Encoding: UTF8, EOL: "\r"}, false},
		{"cr in the head alone", strings.Repeat("50 %\r", headSize) + "\na\n", Format{Encoding: UTF8, EOL: "\n"}, false},
		{"cr in the head, crlf below", strings.Repeat("50 %\r", headSize) + "a\r\n", Format{Encoding: UTF8, EOL: "\r\n"}, false},
		{"cr in the head alone, utf-16", "\xff\xfe" + strings.Repeat("a\x00\r\x00", headSize) + "a\x00\n\x00", Format{Encoding: UTF16LE, BOM: true, EOL: "\n"}, false},
		{"cr throughout", strings.Repeat("a\r", headSize), Format{Encoding: UTF8, EOL: "\r"}, false},
		{"cr up to the limit", strings.Repeat("a\r", MaxSize/2), Format{Encoding: UTF8, EOL: "\r"}, false},
		{"cr in a file above the limit", strings.Repeat("a\r", MaxSize/2) + "\r", Format{Encoding: UTF8, EOL: "\n"}, false},
		{"crlf across the end of the head", long + "\r\n", Format{Encoding: UTF8, EOL: "\n"}, false},
		{"invalid at the end", "a\xc3", Format{Encoding: Latin1, EOL: "\n"}, false},
		{"utf-16", "\xff\xfea\x00\r\x00\n\x00", Format{Encoding: UTF16LE, BOM: true, EOL: "\r\n"}, false},
		{"NUL", "a\x00", Format{Encoding: Latin1, EOL: "\n"}, true},
		{"controls", "\x01\x02\x03\xff", Format{Encoding: Latin1, EOL: "\n"}, true},
	}
	for _, tt := range tests {
		for _, expected := range []int{len(tt.content), 0} {
			r, err := NewReader(strings.NewReader(tt.content), int64(expected), Fallback{Encoding: Latin1})
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
				continue
			}
			if r.Format != tt.format || r.Binary != tt.binary {
				t.Errorf("%s, %d bytes expected: %+v, binary %v", tt.name, expected, r.Format, r.Binary)
			}
		}
	}
}

func TestNext(t *testing.T) {
	r, err := NewReader(strings.NewReader("one\r\n\xe9\xe9\xe9\n\nno end"), 0, Fallback{Encoding: Latin1})
	if err != nil {
		t.Fatal(err)
	}
	left := int64(100)
	var got []Line
	for {
		line, err := r.Next(5, &left)
		if line.Length > 0 || err == nil {
			got = append(got, line)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []Line{{"one", 3}, {"éé", 6}, {}, {"no en", 6}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if left != 100-19 {
		t.Errorf("%d bytes left", left)
	}
}

// In a file without "\n", "\r" ends a line.
func TestNextOfReturns(t *testing.T) {
	r, err := NewReader(strings.NewReader("one\r\rthree\r"), 0, Fallback{Encoding: Latin1})
	if err != nil {
		t.Fatal(err)
	}
	left := int64(100)
	for _, want := range []string{"one", "", "three"} {
		if line, err := r.Next(10, &left); err != nil || line.Text != want {
			t.Errorf("%+v, %v, want %q", line, err, want)
		}
	}
	if line, err := r.Next(10, &left); !errors.Is(err, io.EOF) {
		t.Errorf("%+v, %v", line, err)
	}
}

func TestNextIsBounded(t *testing.T) {
	endless := readerFunc(func(p []byte) (int, error) {
		for i := range p {
			p[i] = 'x'
		}
		return len(p), nil
	})
	r, err := NewReader(endless, headSize, Fallback{Encoding: Latin1})
	if err != nil {
		t.Fatal(err)
	}
	left := int64(1 << 20)
	if line, err := r.Next(10, &left); !errors.Is(err, ErrLimit) || line.Text != "" {
		t.Errorf("%+v, %v", line, err)
	}
}

func TestReadErrorIsReported(t *testing.T) {
	fault := errors.New("fault")
	if _, err := NewReader(readerFunc(func([]byte) (int, error) { return 0, fault }), 0, Fallback{Encoding: Latin1}); !errors.Is(err, fault) {
		t.Errorf("%v", err)
	}
	n := 0
	r, err := NewReader(readerFunc(func(p []byte) (int, error) {
		if n++; n > 1+MaxSize/headSize { // after the survey
			return 0, fault
		}
		return copy(p, strings.Repeat("x", len(p))), nil
	}), 0, Fallback{Encoding: Latin1})
	if err != nil {
		t.Fatal(err)
	}
	left := int64(1 << 20)
	if _, err := r.Next(10, &left); !errors.Is(err, fault) {
		t.Errorf("%v", err)
	}
}

// readerFunc reads the same at each offset.
type readerFunc func([]byte) (int, error)

func (f readerFunc) ReadAt(p []byte, _ int64) (int, error) { return f(p) }
