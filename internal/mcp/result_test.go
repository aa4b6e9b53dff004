package mcp

import (
	"encoding/base64"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestNoImageIsTooLargeForAProvider: the strictest one refuses 5 MB in base64.
func TestNoImageIsTooLargeForAProvider(t *testing.T) {
	const most = 5 << 20
	for _, tt := range []struct{ size, images int }{{most / 4 * 3, 1}, {most/4*3 + 1, 0}, {most, 0}} {
		data := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, tt.size-8)...)
		got := newResult(&sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{Data: data, MIMEType: "image/png"}}})
		if len(got.Images) != tt.images {
			t.Errorf("%d bytes: %d images, %s", tt.size, len(got.Images), got.Text)
		}
		for _, image := range got.Images {
			if n := base64.StdEncoding.EncodedLen(len(image.Data)); n > most {
				t.Errorf("%d bytes in base64", n)
			}
		}
	}
}
