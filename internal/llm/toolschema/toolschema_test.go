package toolschema

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
)

// wires are the forms of schemas for wires and servers, with the providers that take them.
var wires = []struct {
	form      func(json.RawMessage) json.RawMessage
	providers []string
}{
	{func(s json.RawMessage) json.RawMessage { return s }, []string{"openai", "azure", "mistral", "deepseek", "groq"}},
	{Messages, []string{"anthropic"}},
	{Typed, []string{"gemini", "moonshot", "fireworks"}},
	{Unbounded, []string{"xai"}},
}

// accepted checks the form of a schema for each wire, and that it is of the same bytes again.
func accepted(t *testing.T, text string) json.RawMessage {
	t.Helper()
	var schema any
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	form := Of(schema)
	for _, w := range wires {
		for _, name := range w.providers {
			if err := transcriptjudge.Providers[name].Schema(w.form(form)); err != nil {
				t.Errorf("%s, %.2000s\n%.3000s: %v", name, text, w.form(form), err)
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &schema); err != nil || string(Of(schema)) != string(form) {
		t.Errorf("%s has two forms", text)
	}
	return form
}

// TestShapes brings schemas that a provider has refused into form: testdata has them with the part of their form that
// counts.
func TestShapes(t *testing.T) {
	f, err := os.Open("testdata/refused.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for in := bufio.NewScanner(f); in.Scan(); n++ {
		var s struct {
			Schema json.RawMessage
			Want   string
		}
		if err := json.Unmarshal(in.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		if form := accepted(t, string(s.Schema)); !strings.Contains(string(form), s.Want) {
			t.Errorf("%s\n%s\nwant %s", s.Schema, form, s.Want)
		}
	}
	if n < 60 {
		t.Errorf("only %d shapes", n)
	}
}

// TestLargeSchemas brings schemas into form that are too deep, too long or that grow.
func TestLargeSchemas(t *testing.T) {
	values := make([]string, 1000)
	for i := range values {
		values[i] = fmt.Sprintf("%q", fmt.Sprint("value ", i))
	}
	if form := accepted(t, `{"properties":{"a":{"type":"string","enum":[`+strings.Join(values, ",")+`]}}}`); len(form) > 2000 || !strings.Contains(string(form), "one of 1000 values") {
		t.Errorf("%s", form)
	}
	accepted(t, `{"properties":{"a":`+strings.Repeat(`{"type":"array","items":`, 500)+`{}`+strings.Repeat(`}`, 500)+`}}`)
	defs := `"d0":{"type":"string"}`
	for i := range 40 {
		defs += fmt.Sprintf(`,"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}`, i+1, i, i)
	}
	if form := accepted(t, `{"properties":{"a":{"$ref":"#/$defs/d40"}},"$defs":{`+defs+`}}`); len(form) > 1<<20 {
		t.Errorf("%d bytes", len(form))
	}
}

// TestRealShapes brings the shapes of tools of published servers into form, and loses none of
// their properties.
func TestRealShapes(t *testing.T) {
	f, err := os.Open("testdata/shapes.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for in := bufio.NewScanner(f); in.Scan(); n++ {
		form := accepted(t, in.Text())
		var before, after struct{ Properties map[string]any }
		if err := errors.Join(json.Unmarshal(in.Bytes(), &before), json.Unmarshal(form, &after)); err != nil {
			t.Fatal(err)
		}
		for name := range before.Properties {
			if after.Properties[name] == nil {
				t.Errorf("%s is lost from %s", name, in.Text())
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d shapes", n)
	}
}

// TestRandomSchemas brings schemas of random keywords and values into form.
func TestRandomSchemas(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 9))
		text, err := json.Marshal(randomSchema(r, 0))
		if err != nil {
			t.Fatal(err)
		}
		if accepted(t, string(text)); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func randomSchema(r *rand.Rand, depth int) any {
	keywords := append([]string{"oneOf", "allOf", "not", "const", "$ref", "$defs", "definitions", "prefixItems", "additionalItems", "patternProperties", "nullable", "divisibleBy", "if", "x-y"}, transcriptjudge.Keywords...)
	s := map[string]any{}
	for range r.IntN(6) {
		key := keywords[r.IntN(len(keywords))]
		s[key] = randomValue(r, key, depth)
	}
	return s
}

func randomValue(r *rand.Rand, key string, depth int) any {
	sub := func() any {
		if depth > 4 || r.IntN(8) == 0 {
			return []any{true, false, nil, "string", 5.0, []any{}, map[string]any{}}[r.IntN(7)]
		}
		return randomSchema(r, depth+1)
	}
	named := func() any {
		return map[string]any{"a": sub(), "b": sub(), []string{"$c", "ü", "", "x"}[r.IntN(4)]: sub()}
	}
	list := func() any { return []any{sub(), sub()}[:r.IntN(3)] }
	if r.IntN(10) == 0 {
		return sub()
	}
	switch key {
	case "type":
		names := []any{"string", "integer", "int", "null", "array", "object", "any", "string[]", map[string]any{"type": "string"}, nil}
		if r.IntN(3) == 0 {
			return []any{names[r.IntN(len(names))], names[r.IntN(len(names))]}
		}
		return names[r.IntN(len(names))]
	case "properties", "$defs", "definitions", "patternProperties":
		return named()
	case "anyOf", "oneOf", "allOf", "prefixItems":
		return list()
	case "required":
		return []any{"a", "z", 1.0}[:r.IntN(4)]
	case "enum":
		return []any{"a", 1.0, nil, true, "", map[string]any{}}[:r.IntN(7)]
	case "$ref":
		return []any{"#", "#/$defs/a", "#/definitions/b", "#/properties/a", "#/$defs/no", "x"}[r.IntN(6)]
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxItems", "divisibleBy":
		return []any{1.0, -1.0, true, "2", 1e300}[r.IntN(5)]
	case "pattern", "format", "title", "description":
		return []any{"a", "(?=x)", "[", 5.0}[r.IntN(4)]
	}
	return sub()
}
