package answerschema

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

const person = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"name":{"type":"string","minLength":1},"age":{"type":"integer","minimum":0},
  "tags":{"type":"array","items":{"$ref":"#/$defs/tag"}}},"required":["name"],"additionalProperties":false,"$defs":{"tag":{"enum":["a","b"]}}}`

func load(t *testing.T, text string) (*Schema, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "schema.json")
	scratch.Write(t, file, text)
	return Load(file)
}

func TestCheck(t *testing.T) {
	s, err := load(t, person)
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]string{
		`{"name":"x","age":3,"tags":["a"]}`:  "",
		"\n```json\n{\"name\":\"x\"}\n```\n": "",
		"```\n{\"name\":\"x\"}\n```":         "",
		`{"name":"x","age":3.5}`:             "integer",
		`{"name":"x","age":-1}`:              "minimum",
		`{"name":""}`:                        "minLength",
		`{"age":1}`:                          "name",
		`{"name":"x","more":1}`:              "more",
		`{"name":"x","tags":["c"]}`:          "enum",
		`Here it is: {"name":"x"}`:           "not one JSON value",
		`{"name":"x"} {"name":"y"}`:          "not one JSON value",
		`{"name":"x"`:                        "not one JSON value",
		"":                                   "not one JSON value",
		`[]`:                                 "object",
		"```json\n{\"name\":\"x\"}\n```\n```json\n{}\n```": "not one JSON value",
	} {
		got, err := s.Check(answer)
		switch {
		case want == "" && (err != nil || strings.Contains(string(got), "`")):
			t.Errorf("%q: %s, %v", answer, got, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", answer, err, want)
		}
	}
}

func TestLoad(t *testing.T) {
	for text, want := range map[string]string{
		"{":                                   "not JSON",
		`{"type":7}`:                          "not a JSON Schema",
		`{"pattern":"("}`:                     "cannot be used|can be used",
		`{"$ref":"http://x.example/s.json"}`:  "can be used",
		`"a text"`:                            "not a JSON Schema",
		strings.Repeat(" ", maxSize+1) + "{}": "more than 64 KiB",
	} {
		_, err := load(t, text)
		found := err != nil
		for part := range strings.SplitSeq(want, "|") {
			if found = err != nil && strings.Contains(err.Error(), part); found {
				break
			}
		}
		if !found {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	for _, text := range []string{`{}`, `true`, `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"x":{"type":"string"}},"properties":{"a":{"$ref":"#/definitions/x"}}}`} {
		if s, err := load(t, text); err != nil || len(s.Text()) == 0 {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no file, and no error")
	}
}
