package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/png"
	"slices"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestNoImageIsTooLargeForAProvider: the strictest one refuses 5 MB in base64, and 8,001 pixels
// a side.
func TestNoImageIsTooLargeForAProvider(t *testing.T) {
	const most = 5 << 20
	for _, tt := range []struct{ size, width, images int }{{most / 4 * 3, 1, 1}, {most/4*3 + 1, 1, 0}, {most, 1, 0}, {most / 2, 8000, 1}, {most / 2, 8001, 0}} {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, tt.width, 1))); err != nil {
			t.Fatal(err)
		}
		const end = 12 // bytes of a chunk without data
		data := slices.Clone(b.Bytes()[:b.Len()-end])
		data = binary.BigEndian.AppendUint32(data, uint32(tt.size-b.Len()-end))
		data = append(append(data, "teSt"...), make([]byte, tt.size-b.Len()-end+4)...)
		data = append(data, b.Bytes()[b.Len()-end:]...)
		got := newResult(&sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{Data: data, MIMEType: "image/png"}}})
		if len(got.Images) != tt.images || len(data) != tt.size {
			t.Errorf("%d bytes, %d pixels: %d images, %s", len(data), tt.width, len(got.Images), got.Text)
		}
		for _, image := range got.Images {
			if n := base64.StdEncoding.EncodedLen(len(image.Data)); n > most {
				t.Errorf("%d bytes in base64", n)
			}
		}
	}
}

// TestFormFields: the options of a form are answers that its field takes, and no other answer
// is taken.
func TestFormFields(t *testing.T) {
	for name, c := range map[string]struct {
		schema  string
		options []string
		answers map[string]any // nil: declined
	}{
		"a large default": {`{"type":"integer","default":1000000}`, []string{"1000000"}, map[string]any{"1000000": int64(1000000), "1e+06": nil}},
		"a number":        {`{"type":"number","default":0.5}`, []string{"0.5"}, map[string]any{"2.5": 2.5, "NaN": nil, "inf": nil, "x": nil}},
		"choices":         {`{"type":"string","enum":["a","b"],"default":"b"}`, []string{"b", "a"}, map[string]any{"a": "a", "c": nil}},
		"titled choices": {
			`{"type":"string","oneOf":[{"const":"#f00","title":"Red"},{"const":"#0f0","title":"Green"}],"default":"#0f0"}`,
			[]string{"Green", "Red"},
			map[string]any{"Red": "#f00", "#0f0": "#0f0", "Blue": nil},
		},
		"yes or no": {`{"type":"boolean","default":true}`, []string{"true", "false"}, map[string]any{"false": false, "maybe": nil}},
	} {
		fields, ok := fieldsOf(json.RawMessage(`{"type":"object","properties":{"f":` + c.schema + `}}`))
		if !ok || len(fields) != 1 {
			t.Fatalf("%s: %+v", name, fields)
		}
		if got := fields[0].options(); !slices.Equal(got, c.options) {
			t.Errorf("%s: options %q", name, got)
		}
		for answer, want := range c.answers {
			if got, ok := fields[0].value(answer); ok != (want != nil) || ok && got != want {
				t.Errorf("%s: %q is %v, %v", name, answer, got, ok)
			}
		}
	}
}
