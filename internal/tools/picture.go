package tools

import (
	"fmt"

	"github.com/bb2d0cf4/agent/internal/imagefile"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// picture returns the image in s for the model; nil if the file is no image.
func (r reader) picture(s *workspace.Stream) (*Result, error) {
	head, err := s.Head(16)
	if err != nil || !imagefile.Begins(head) {
		return nil, err
	}
	data, err := s.Head(imagefile.MaxSize + 1)
	if err != nil {
		return nil, err
	}
	img, err := imagefile.Parse(data[:min(len(data), imagefile.MaxSize)])
	var res Result
	switch {
	case err != nil && !s.Binary:
		return nil, nil // a text that begins like an image
	case len(data) > imagefile.MaxSize || max(img.Width, img.Height) > imagefile.MaxSide:
		res = toolcall.Failed("%s is an image of %d bytes%s, which is too large to be shown to you: at most %d bytes and %d pixels a side are. Make a smaller copy first.",
			s.Info.Name, s.Info.Size, pixels(img), imagefile.MaxSize, imagefile.MaxSide)
	case err != nil:
		res = toolcall.Failed("%s begins like an image, but cannot be shown to you: %w.", s.Info.Name, err)
	default:
		res = Result{
			ForModel: fmt.Sprintf("%s: %s%s, %d bytes.", s.Info.Name, img.Mime, pixels(img), len(data)),
			ForUser:  img.Mime + pixels(img),
		}
		r.show(&res, llm.Part{Kind: llm.ImagePart, Mime: img.Mime, Data: data})
	}
	return &res, nil
}

// pixels describes the size of an image, if it is known.
func pixels(img imagefile.Image) string {
	if img.Width == 0 {
		return ""
	}
	return fmt.Sprintf(", %d×%d pixels", img.Width, img.Height)
}

// show adds the images of a result for a model that takes some.
func (d Deps) show(res *Result, images ...llm.Part) {
	if len(images) == 0 {
		return
	}
	if d.Sees == nil || !d.Sees() {
		res.ForModel += "\n[Images cannot be shown to you.]"
		return
	}
	res.Pictures = append(res.Pictures, images...)
}
