package promptline

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // the formats that models take
	_ "image/jpeg"
	_ "image/png"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/regular"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// MaxImage is the size in bytes of the largest image that is sent.
const MaxImage = 5 << 20

// Images are those that the prompt names. A placeholder stands for each in the text,
// so that it can be moved, deleted and queued like any other word. It may be used from
// any goroutine.
type Images struct {
	Dir  string // where names that are not absolute begin
	Tell func(note string)
	// Clip takes an image out of the clipboard.
	Clip func(ctx context.Context, limit int) ([]byte, error)
	// Takes says whether the model takes images, and which model it is.
	Takes func() (name string, takes bool)

	mu   sync.Mutex
	have []picture
}

// picture is an image and its placeholder.
type picture struct {
	mark, mime string
	data       []byte
}

// Attach returns the placeholder for the image whose path was pasted or typed; ok is
// false if text is no such path. A placeholder stands for itself.
func (x *Images) Attach(text string) (mark string, ok bool) {
	if x.known(text) {
		return text, true
	}
	path, ok := imagePath(text, x.Dir)
	if !ok {
		return "", false
	}
	data, err := readImage(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", false // a path that is talked about
	}
	if err == nil {
		mark, err = x.add(filepath.Base(path), data)
	}
	if err != nil {
		x.Tell(fmt.Sprintf("The image %s is not attached: %v.", path, err))
		return "", false
	}
	return mark, true
}

// Paste returns the placeholder for the image in the clipboard.
func (x *Images) Paste(ctx context.Context) (mark string, err error) {
	data, err := x.Clip(ctx, MaxImage)
	if err != nil {
		return "", err
	}
	return x.add("clipboard", data)
}

func (x *Images) known(mark string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(x.have, func(p picture) bool { return p.mark == mark })
}

// add keeps an image and returns its placeholder.
func (x *Images) add(name string, data []byte) (mark string, err error) {
	if len(data) > MaxImage {
		return "", errTooLarge
	}
	kind, width, height, err := measure(data)
	if err != nil {
		return "", err
	}
	x.mu.Lock()
	mark = fmt.Sprintf("[image %d: %s %d×%d]", len(x.have)+1, strings.Trim(sanitize.Line(name), "[]"), width, height)
	x.have = append(x.have, picture{mark, "image/" + kind, data})
	x.mu.Unlock()
	if name, takes := x.Takes(); !takes {
		x.Tell(fmt.Sprintf("%s is not known to take images: it will be told of this one, but not shown it. "+
			"If it does take them, set images: true for it in the configuration.", name))
	}
	return mark, nil
}

// Parts returns the images that a prompt names, in its order, for a model that takes
// them; for another the sentence that says so.
func (x *Images) Parts(prompt string) []llm.Part {
	if !strings.Contains(prompt, "[image ") {
		return nil
	}
	x.mu.Lock()
	var named []picture
	for _, p := range x.have {
		if strings.Contains(prompt, p.mark) {
			named = append(named, p)
		}
	}
	x.mu.Unlock()
	if len(named) == 0 {
		return nil
	}
	slices.SortFunc(named, func(a, b picture) int { return strings.Index(prompt, a.mark) - strings.Index(prompt, b.mark) })
	if _, takes := x.Takes(); !takes {
		return []llm.Part{{Kind: llm.TextPart, Aside: true, Text: "\n\n(The images cannot be shown to you.)"}}
	}
	var parts []llm.Part
	for _, p := range named {
		parts = append(parts, llm.Part{Kind: llm.ImagePart, Mime: p.mime, Data: p.data})
	}
	return parts
}

// imageName is what names an image: what a path that was typed or dropped may look
// like is another question.
var imageName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\.(png|jpe?g|gif|webp)$`) })

// imagePath returns the file that text names, as terminals paste it when a file is
// dropped: quoted, with backslashes, or as an address. A name alone is none: people
// talk about files, too.
func imagePath(text, dir string) (string, bool) {
	text = strings.TrimSpace(text)
	if len(text) > 4096 || strings.ContainsAny(text, "\n\x00") {
		return "", false
	}
	text, mention := strings.CutPrefix(text, "@")
	text = unquote(text)
	if !imageName().MatchString(text) {
		return "", false
	}
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", false
		}
		text = filepath.Join(home, rest)
	}
	switch {
	case filepath.IsAbs(text):
		return text, true
	case mention, strings.HasPrefix(text, "./"), strings.HasPrefix(text, "../"):
		return filepath.Join(dir, text), true
	}
	return "", false
}

// unquote returns the path that text stands for.
func unquote(text string) string {
	for _, q := range []string{`"`, "'"} {
		if len(text) > 2 && strings.HasPrefix(text, q) && strings.HasSuffix(text, q) {
			return text[1 : len(text)-1]
		}
	}
	if u, err := url.Parse(text); err == nil && u.Scheme == "file" {
		return filepath.FromSlash(u.Path)
	}
	if runtime.GOOS == "windows" {
		return text
	}
	return regexp.MustCompile(`\\(.)`).ReplaceAllString(text, "$1")
}

// readImage reads a file, if it is one.
func readImage(path string) ([]byte, error) {
	data, err := regular.ReadFile(path, MaxImage)
	switch {
	case errors.Is(err, regular.ErrNotRegular):
		return nil, errors.New("it is no file")
	case errors.Is(err, regular.ErrTooLarge):
		return nil, errTooLarge
	}
	return data, err
}

var errTooLarge = fmt.Errorf("it is larger than %d MB", MaxImage>>20)

var errNoImage = errors.New("it is no PNG, JPEG, GIF or WebP")

// measure returns the format and the size of an image, in pixels.
func measure(data []byte) (kind string, width, height int, err error) {
	if len(data) >= 30 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" {
		width, height, err = measureWebP(data)
		return "webp", width, height, err
	}
	cfg, kind, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return "", 0, 0, errNoImage
	}
	return kind, cfg.Width, cfg.Height, nil
}

// measureWebP reads the first chunk of a WebP: lossy, lossless or extended.
func measureWebP(data []byte) (width, height int, err error) {
	b := data[20:]
	switch string(data[12:16]) {
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(b[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(b[8:]) & 0x3fff), nil
	case "VP8L":
		n := binary.LittleEndian.Uint32(b[1:])
		return int(n&0x3fff) + 1, int(n>>14&0x3fff) + 1, nil
	case "VP8X":
		three := func(p []byte) int { return int(p[0]) | int(p[1])<<8 | int(p[2])<<16 }
		return three(b[4:]) + 1, three(b[7:]) + 1, nil
	}
	return 0, 0, errNoImage
}
