package mcp

import (
	"encoding/base64"
	"encoding/json"
	"slices"
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
	for _, c := range []struct{ schema, want string }{
		{`{"type":"object","properties":[]}`, `{"properties":{},"type":"object"}`},
		{`{"properties":null,"required":"a"}`, `{"properties":{},"type":"object"}`},
		{`{"properties":{"a":{"type":"object","properties":[]}},"required":["a"]}`, `{"properties":{"a":{"properties":{},"type":"object"}},"required":["a"],"type":"object"}`},
		{`{"properties":{"a":{"items":{"properties":[],"required":[1]}}}}`, `{"properties":{"a":{"items":{"properties":{}}}},"type":"object"}`},
		{`{"properties":{"a":{"anyOf":[{"type":"null"},{"properties":[],"required":{}}]}}}`, `{"properties":{"a":{"anyOf":[{"type":"null"},{"properties":{}}]}},"type":"object"}`},
		{`{"properties":["a"]}`, ""},
		{`{"properties":"a"}`, ""},
		{`{"properties":{"a":{"properties":5}}}`, ""},
	} {
		var value any
		if err := json.Unmarshal([]byte(c.schema), &value); err != nil {
			t.Fatal(err)
		}
		if got, ok := schemaOf(value); string(got) != c.want || ok != (c.want != "") {
			t.Errorf("%s: %s, %t", c.schema, got, ok)
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
