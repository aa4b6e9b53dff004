package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/imagefile"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// maxImages is the most images of a result.
const maxImages = 10

// Result is the result of a call.
type Result struct {
	Text   string // names the images, too
	Images []Image
	Failed bool
}

// Image is a picture of a result.
type Image struct {
	Mime string // by its content
	Data []byte
}

// newResult returns the result of a call.
func newResult(res *sdk.CallToolResult) Result {
	var out Result
	var parts []string
	for _, c := range res.Content {
		parts = append(parts, out.add(c))
	}
	if len(parts) == 0 && res.StructuredContent != nil {
		if data, err := json.Marshal(res.StructuredContent); err == nil {
			parts = append(parts, string(data))
		}
	}
	out.Text, out.Failed = cmp.Or(sanitize.ForModel(strings.Join(parts, "\n")), "(no content)"), res.IsError
	return out
}

// add adds a part, and returns its text.
func (r *Result) add(c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return r.picture(cmp.Or(c.MIMEType, "image"), c.Data)
	case *sdk.AudioContent:
		return fmt.Sprintf("[a recording, %s, %d bytes, which is not played here]", c.MIMEType, len(c.Data))
	case *sdk.ResourceLink:
		return linkText(c)
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return "[an empty resource]"
		}
		return r.resource(c.Resource)
	}
	return "[content of an unknown kind]"
}

// resource adds the content of a resource, and returns its text.
func (r *Result) resource(c *sdk.ResourceContents) string {
	switch {
	case c.Text != "":
		return c.Text
	case strings.HasPrefix(c.MIMEType, "image/"):
		return r.picture(c.URI, c.Blob)
	}
	return fmt.Sprintf("[resource %s, %s, %d bytes, which is not shown here]", c.URI, c.MIMEType, len(c.Blob))
}

// picture adds an image if a model may take it, and returns a text that names it.
func (r *Result) picture(name string, data []byte) string {
	img, err := imagefile.Check(data)
	switch {
	case err != nil:
		return fmt.Sprintf("[an image, %s, %d bytes, which is not shown here: %v]", name, len(data), err)
	case len(r.Images) >= maxImages:
		return fmt.Sprintf("[an image, %s, %d bytes, which is not shown here: at most %d are]", name, len(data), maxImages)
	}
	r.Images = append(r.Images, Image{img.Mime, data})
	return fmt.Sprintf("[image %d: %s, %d bytes]", len(r.Images), name, len(data))
}

// linkText describes a resource that the server has, but did not send.
func linkText(c *sdk.ResourceLink) string {
	text := "[resource " + cmp.Or(c.Title, c.Name) + ": " + c.URI
	if c.MIMEType != "" {
		text += ", " + c.MIMEType
	}
	if c.Description != "" {
		text += ", " + clip.Bytes(c.Description, maxWhy, "…")
	}
	return text + "]"
}
