package attachments

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/imagefile"
	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/regularfile"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/subpath"
)

// Images holds the images that prompts name. In the text each is a placeholder, which
// can be moved, deleted and queued like any other word. It is safe for concurrent use.
type Images struct {
	Dir  string            // relative names start here
	Tell func(note string) // shows a note to the user
	// Clip returns the image in the clipboard, of at most limit bytes.
	Clip func(ctx context.Context, limit int) ([]byte, error)
	// Takes names the model and reports whether it takes images.
	Takes func() (name string, takes bool)

	mu  sync.Mutex
	all []picture
}

// picture is an image and its placeholder.
type picture struct {
	mark, mime string
	data       []byte
}

// Attach attaches the image at the path that was pasted or typed, and returns its
// placeholder. ok is false if text is not the path of an image. The placeholder of a
// placeholder is itself.
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
		return "", false // only a path in a sentence
	}
	if err == nil {
		mark, err = x.Add(filepath.Base(path), data)
	}
	if err != nil {
		x.Tell(fmt.Sprintf("The image %s is not attached: %v.", path, err))
		return "", false
	}
	return mark, true
}

// AttachWords attaches the images whose paths are words of typed, and returns prompt, which
// holds these words, with placeholders instead.
func (x *Images) AttachWords(prompt, typed string) string {
	for word := range strings.FieldsSeq(typed) {
		if mark, ok := x.Attach(word); ok {
			prompt = strings.Replace(prompt, word, mark, 1)
		}
	}
	return prompt
}

// Paste attaches the image in the clipboard and returns its placeholder.
func (x *Images) Paste(ctx context.Context) (mark string, err error) {
	data, err := x.Clip(ctx, imagefile.MaxSize)
	if err != nil {
		return "", err
	}
	return x.Add("clipboard", data)
}

func (x *Images) known(mark string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(x.all, func(p picture) bool { return p.mark == mark })
}

// Add attaches an image and returns its placeholder.
func (x *Images) Add(name string, data []byte) (mark string, err error) {
	img, err := imagefile.Check(data)
	if err != nil {
		return "", err
	}
	x.mu.Lock()
	mark = fmt.Sprintf("[image %d: %s %d×%d]", len(x.all)+1, strings.Trim(sanitize.Line(name), "[]"), img.Width, img.Height)
	x.all = append(x.all, picture{mark, img.Mime, data})
	x.mu.Unlock()
	if name, takes := x.Takes(); !takes {
		x.Tell(fmt.Sprintf("%s may not accept images, so it is only told that there is one. "+
			"If it does accept them, set images: true for it in the configuration.", name))
	}
	return mark, nil
}

// Parts returns the images that a prompt names, in its order. For a model that takes
// none it returns a sentence that tells the model so.
func (x *Images) Parts(prompt string) []llm.Part {
	if !strings.Contains(prompt, "[image ") {
		return nil
	}
	x.mu.Lock()
	var named []picture
	for _, p := range x.all {
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

// imageName matches the name of an image file.
var imageName = lazyregexp.New(`(?i)\.(png|jpe?g|gif|webp)$`)

// imagePath returns the path in text as terminals paste it when a file is dropped:
// quoted, with backslashes, or as a file: URL. A bare name is not taken for a path:
// people write about files, too.
func imagePath(text, dir string) (string, bool) {
	text = strings.TrimSpace(text)
	if len(text) > 4096 || strings.ContainsAny(text, "\n\x00") {
		return "", false
	}
	text, mention := strings.CutPrefix(text, "@")
	text = unquote(text)
	if !imageName.MatchString(text) {
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

// unquote removes quotes, backslashes or the form of a URL from a pasted path.
func unquote(text string) string {
	for _, q := range []string{`"`, "'"} {
		if len(text) > 2 && strings.HasPrefix(text, q) && strings.HasSuffix(text, q) {
			return text[1 : len(text)-1]
		}
	}
	if u, err := url.Parse(text); err == nil && u.Scheme == "file" {
		return fileOf(u, runtime.GOOS == "windows")
	}
	if runtime.GOOS == "windows" {
		return text
	}
	return regexp.MustCompile(`\\(.)`).ReplaceAllString(text, "$1")
}

// fileOf returns the path of a file by its URL, with forward slashes replaced on Windows. There, a slash
// comes before the drive, and another machine is named as the host.
func fileOf(u *url.URL, windows bool) string {
	path := u.Path
	if !windows {
		return path
	}
	if u.Host != "" && u.Host != "localhost" {
		path = "//" + u.Host + path
	} else if rest, ok := strings.CutPrefix(path, "/"); ok && subpath.HasDrive(rest) {
		path = rest
	}
	return strings.ReplaceAll(path, "/", `\`)
}

// readImage reads a regular file.
func readImage(path string) ([]byte, error) {
	data, err := regularfile.ReadFile(path, imagefile.MaxSize)
	switch {
	case errors.Is(err, regularfile.ErrNotRegular):
		return nil, errors.New("it is not a regular file")
	case errors.Is(err, regularfile.ErrTooLarge):
		return nil, imagefile.ErrTooLarge
	}
	return data, err
}
