package acp

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/subpath"
)

// promptText joins the blocks of a prompt. Its images are attached to the session.
func (s *hosted) promptText(blocks []block) (string, error) {
	var b, typed strings.Builder
	for _, part := range blocks {
		text, err := s.blockText(part)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
		if part.Type == "text" {
			typed.WriteString(text)
		}
	}
	s.Resources.Composed(b.String(), typed.String())
	if strings.TrimSpace(b.String()) == "" {
		return "", errors.New("the prompt is empty")
	}
	return b.String(), nil
}

func (s *hosted) blockText(part block) (string, error) {
	switch part.Type {
	case "text":
		return part.Text, nil
	case "image":
		return s.image(part.URI, part.Data)
	case "resource_link":
		return s.link(part.URI), nil
	case "resource":
		if part.Resource != nil {
			return s.embedded(*part.Resource)
		}
	}
	return "", fmt.Errorf("content of the type %q is not supported", part.Type)
}

// embedded returns the text of a resource, with its name.
func (s *hosted) embedded(r resource) (string, error) {
	switch {
	case r.Text != nil:
		return fmt.Sprintf("\n%s:\n%s\n", s.link(r.URI), fence("", *r.Text)), nil
	case strings.HasPrefix(r.MimeType, "image/"):
		return s.image(r.URI, r.Blob)
	}
	return fmt.Sprintf("%s (%d bytes, which are not text)", s.link(r.URI), len(r.Blob)), nil
}

// image attaches an image and returns its placeholder.
func (s *hosted) image(uri string, data []byte) (string, error) {
	name := "pasted"
	if uri != "" {
		name = filepath.Base(strings.TrimPrefix(s.link(uri), "@"))
	}
	mark, err := s.Images.Add(name, data)
	if err != nil {
		return "", fmt.Errorf("the image is not attached: %w", err)
	}
	return " " + mark + " ", nil
}

// link returns a file as people mention it, relative to the session's folder, with the
// lines that a host names in the fragment. Another URI is returned as it is.
func (s *hosted) link(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return uri
	}
	name := filepath.FromSlash(u.Path)
	if rel, ok := subpath.Of(s.Dir, name); ok {
		name = rel
	}
	if u.Fragment != "" {
		name += "#" + strings.ReplaceAll(u.Fragment, ":", "-")
	}
	return "@" + name
}
