package mcp

import (
	"encoding/base64"
	"encoding/json"
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

// TestSchemas: schemas of which a provider refuses the whole request are mended, or their tool is
// left out.
func TestSchemas(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","properties":[]}`:                                                `{"properties":{},"type":"object"}`,
		`{"properties":null,"required":"a"}`:                                               `{"properties":{},"type":"object"}`,
		`{"properties":{"a":{"type":"object","properties":[]}},"required":["a"]}`:          `{"properties":{"a":{"properties":{},"type":"object"}},"required":["a"],"type":"object"}`,
		`{"properties":{"a":{"items":{"properties":[],"required":[1]}}}}`:                  `{"properties":{"a":{"items":{"properties":{}}}},"type":"object"}`,
		`{"properties":{"a":{"anyOf":[{"type":"null"},{"properties":[],"required":{}}]}}}`: `{"properties":{"a":{"anyOf":[{"type":"null"},{"properties":{}}]}},"type":"object"}`,
		`{"properties":["a"]}`:                                                             "",
		`{"properties":"a"}`:                                                               "",
		`{"properties":{"a":{"properties":5}}}`:                                            "",
	} {
		var value any
		if err := json.Unmarshal([]byte(schema), &value); err != nil {
			t.Fatal(err)
		}
		if got, ok := schemaOf(value); string(got) != want || ok != (want != "") {
			t.Errorf("%s: %s, %t", schema, got, ok)
		}
	}
}
