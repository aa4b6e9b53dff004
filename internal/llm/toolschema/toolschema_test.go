package toolschema

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// checker refuses schemas by the published rules of a provider, and by JSON Schema 2020-12.
type checker struct {
	keys   *regexp.Regexp // of the names of properties; nil: any
	google bool
}

var checkers = map[string]struct {
	checker
	form func(json.RawMessage) json.RawMessage
}{
	"chat and responses": {checker{}, func(s json.RawMessage) json.RawMessage { return s }},
	"messages":           {checker{keys: regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)}, Messages},
	"google":             {checker{google: true}, Google},
}

func (c checker) top(data []byte) error {
	var s map[string]any
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	if s["type"] != "object" || s["properties"] == nil {
		return errors.New("the schema is of no object")
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf", "enum", "not", "const"} {
		if s[key] != nil {
			return fmt.Errorf("%s at the top", key)
		}
	}
	return c.schema(s, "")
}

var known = []string{
	"type", "title", "description", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "default", "format", "pattern",
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems",
}

func (c checker) schema(value any, at string) error {
	s, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %v is no schema", at, value)
	}
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(at+": "+format, args...)) }
	for key, v := range s {
		if !slices.Contains(known, key) {
			fail("unknown keyword %s", key)
		}
		switch key {
		case "title", "description", "format", "pattern":
			if _, ok := v.(string); !ok {
				fail("%s is no text", key)
			}
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems":
			if _, ok := v.(float64); !ok {
				fail("%s is no number", key)
			}
		}
	}
	types := c.types(s, fail)
	if slices.Contains(types, "array") && s["items"] == nil {
		fail("an array without items")
	}
	if pattern, ok := s["pattern"].(string); ok {
		if _, err := regexp.Compile(pattern); err != nil || strings.Contains(pattern, "(?") {
			fail("pattern %s", pattern)
		}
	}
	c.values(s, types, fail)
	errs = append(errs, c.inner(s, at, fail)...)
	return errors.Join(errs...)
}

func (c checker) types(s map[string]any, fail func(string, ...any)) (types []string) {
	switch t := s["type"].(type) {
	case nil:
		if c.google && s["anyOf"] == nil {
			fail("no type")
		}
	case string:
		types = []string{t}
	case []any:
		for _, one := range t {
			name, _ := one.(string)
			if slices.Contains(types, name) {
				fail("type %s twice", name)
			}
			types = append(types, name)
		}
		if c.google || len(t) == 0 {
			fail("a list of types")
		}
	default:
		fail("type %v", t)
	}
	for _, name := range types {
		if !slices.Contains([]string{"string", "number", "integer", "boolean", "object", "array", "null"}, name) || c.google && name == "null" {
			fail("type %q", name)
		}
	}
	return types
}

func (c checker) values(s map[string]any, types []string, fail func(string, ...any)) {
	v, ok := s["enum"]
	list, isList := v.([]any)
	if ok && (!isList || len(list) == 0 || len(list) > 500) {
		fail("enum %.200v", v)
	}
	for _, one := range list {
		if kind := kindOf(one); types != nil && !slices.Contains(types, kind) && (kind != "integer" || !slices.Contains(types, "number")) {
			fail("%v of the enum is no %v", one, types)
		}
		if c.google && (types == nil || types[0] != "string" || one == "") {
			fail("%v in an enum", one)
		}
	}
}

func (c checker) inner(s map[string]any, at string, fail func(string, ...any)) (errs []error) {
	properties, _ := s["properties"].(map[string]any)
	if _, ok := s["properties"]; ok && properties == nil {
		fail("properties %v", s["properties"])
	}
	for name, p := range properties {
		if c.keys != nil && !c.keys.MatchString(name) {
			fail("property %q", name)
		}
		errs = append(errs, c.schema(p, at+"/"+name))
	}
	if required, ok := s["required"]; ok {
		list, _ := required.([]any)
		if len(list) == 0 {
			fail("required %v", required)
		}
		for _, name := range list {
			if text, ok := name.(string); !ok || properties[text] == nil {
				fail("required %v", name)
			}
		}
	}
	if items, ok := s["items"]; ok {
		errs = append(errs, c.schema(items, at+"/items"))
	}
	if others, ok := s["additionalProperties"]; ok && others != false {
		errs = append(errs, c.schema(others, at+"/additionalProperties"))
	}
	if branches, ok := s["anyOf"]; ok {
		list, _ := branches.([]any)
		if len(list) < 2 || s["type"] != nil {
			fail("anyOf %v", branches)
		}
		for _, one := range list {
			errs = append(errs, c.schema(one, at+"/anyOf"))
		}
	}
	if c.google && (s["additionalProperties"] != nil || s["exclusiveMinimum"] != nil || s["exclusiveMaximum"] != nil || s["pattern"] != nil || s["format"] != nil && s["format"] != "date-time") {
		fail("a keyword that Google's servers do not know")
	}
	return errs
}

// accepted checks the form of a schema for each wire, and that it is of the same bytes again.
func accepted(t *testing.T, text string) json.RawMessage {
	t.Helper()
	var schema any
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	form := Of(schema)
	for name, c := range checkers {
		if err := c.top(c.form(form)); err != nil {
			t.Errorf("%s, %.2000s\n%.3000s: %v", name, text, c.form(form), err)
		}
	}
	if err := json.Unmarshal([]byte(text), &schema); err != nil || string(Of(schema)) != string(form) {
		t.Errorf("%s has two forms", text)
	}
	return form
}

// shapes are schemas that a provider has refused, with the part of their form that counts.
var shapes = []struct{ schema, want string }{
	{`null`, `{"properties":{},"type":"object"}`},
	{`true`, `{"properties":{},"type":"object"}`},
	{`[]`, `{"properties":{},"type":"object"}`},
	{`"object"`, `"properties":{}`},
	{`{}`, `{"properties":{},"type":"object"}`},
	{`{"type":"array","items":{"type":"string"}}`, `{"properties":{},"type":"object"}`},
	{`{"type":["object","null"]}`, `"type":"object"`},
	{`{"type":"Object","properties":{"a":{"type":"STRING"}}}`, `"a":{"type":"string"}`},
	{`{"type":"object","properties":[]}`, `"properties":{}`},
	{`{"properties":null,"required":"a"}`, `"required":["a"]`},
	{`{"properties":["a"]}`, `"properties":{}`},
	{`{"properties":[{"name":"a","type":"int"}]}`, `"a":{"type":"integer"}`},
	{`{"properties":{"a":"string","b":["string","null"],"c":5}}`, `"properties":{"a":{"type":"string"},"b":{"type":["string","null"]},"c":{}}`},
	{`{"properties":{"a":{"properties":[],"required":[1]}}}`, `"a":{"properties":{},"type":"object"}`},
	{`{"properties":{"a":true,"b":false},"required":["a","b"]}`, `"properties":{"a":{}},"required":["a"]`},
	{`{"properties":{"a":{"type":"array"}}}`, `"a":{"items":{},"type":"array"}`},
	{`{"properties":{"a":{"type":["array","null"]}}}`, `"items":{}`},
	{`{"properties":{"a":{"type":"array","items":true}}}`, `"items":{}`},
	{`{"properties":{"a":{"type":"array","items":[{"type":"string"},{"type":"number"}]}}}`, `"items":{"anyOf":[{"type":"string"},{"type":"number"}]}`},
	{`{"properties":{"a":{"type":"array","items":[{"type":"number"},{"type":"number"}],"additionalItems":false}}}`, `"items":{"type":"number"},"maxItems":2`},
	{`{"properties":{"a":{"type":"array","prefixItems":[{"type":"string"}],"items":false}}}`, `"items":{"type":"string"},"maxItems":1`},
	{`{"properties":{"a":{"items":{"type":"string"}}}}`, `"type":"array"`},
	{`{"properties":{"a":{"type":"int"},"b":{"type":"float"},"c":{"type":"bool"},"d":{"type":"any"},"e":{"type":"dict"},"f":{"type":"list"}}}`, `"a":{"type":"integer"},"b":{"type":"number"},"c":{"type":"boolean"},"d":{},"e":{"type":"object"},"f":{"items":{},"type":"array"}`},
	{`{"properties":{"a":{"type":"string|null"},"b":{"type":"string[]"},"c":{"type":[]}}}`, `"b":{"items":{"type":"string"},"type":"array"}`},
	{`{"properties":{"a":{"type":[{"type":"string"},"null"]}}}`, `"anyOf"`},
	{`{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b"]}]}`, `"description":"(give a, or b)","properties":{"a":{"type":"string"},"b":{"type":"string"}},"type":"object"`},
	{`{"oneOf":[{"type":"object","properties":{"k":{"const":"x"},"a":{}},"required":["k","a"]},{"type":"object","properties":{"k":{"const":"y"}},"required":["k"]}]}`, `"required":["k"]`},
	{`{"allOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}]}`, `"required":["a","b"]`},
	{`{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `"description":"(give a, or b)"`},
	{`{"type":"object","not":{"required":["a"]},"enum":[1],"const":2,"if":{},"then":{}}`, `{"properties":{},"type":"object"}`},
	{`{"properties":{"a":{"anyOf":[]}}}`, `"a":{}`},
	{`{"properties":{"a":{"anyOf":{"type":"string"}}}}`, `"a":{"type":"string"}`},
	{`{"properties":{"a":{"type":"string","anyOf":[{"enum":["x"]},{"pattern":"^y"}]}}}`, `"anyOf":[{"enum":["x"],"type":"string"},{"pattern":"^y","type":"string"}]`},
	{`{"properties":{"a":{"$ref":"#/$defs/no"}}}`, `"a":{}`},
	{`{"properties":{"a":{"$ref":"http://example.com/x.json"}}}`, `"a":{}`},
	{`{"properties":{"a":{"$ref":"#/definitions/x"}},"definitions":{"x":{"type":"integer"}}}`, `"a":{"type":"integer"}`},
	{`{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}}`, `"properties":{"b":{"type":"string"}}`},
	{`{"properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}`, `"next":{"description":"(again n)","type":"object"}`},
	{`{"properties":{"a":{"$ref":"#"}}}`, `"a":`},
	{`{"$ref":"#"}`, `"properties":{}`},
	{`{"properties":{"a":{"$ref":"#/properties/b"},"b":{"$ref":"#/properties/a"}}}`, `"a":`},
	{`{"properties":{"a":{"$ref":"#/$defs/x~1y%20z"}},"$defs":{"x/y z":{"type":"null"}}}`, `"a":{"type":"null"}`},
	{`{"properties":{"a":{"type":"number","minimum":1,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}}}`, `"exclusiveMinimum":1,"maximum":9`},
	{`{"properties":{"a":{"type":"integer","minimum":"1","maximum":"x","divisibleBy":2,"multipleOf":0}}}`, `"minimum":1,"multipleOf":2`},
	{`{"properties":{"a":{"type":"string","minLength":-1,"maxLength":"5"}}}`, `"maxLength":5`},
	{`{"properties":{"a":{"type":"string","nullable":true},"b":{"type":"string","enum":["x"],"nullable":true}}}`, `"a":{"type":["string","null"]}`},
	{`{"properties":{"a":{"const":"x"},"b":{"const":null},"c":{"const":{"x":1}},"d":{"const":true}}}`, `"a":{"enum":["x"],"type":"string"}`},
	{`{"properties":{"a":{"type":"string","pattern":"^(?!x)"},"b":{"pattern":"["},"c":{"pattern":5}}}`, `"description":"(pattern: ^(?!x))"`},
	{`{"properties":{"a":{"type":"string","format":"int-or-string"},"b":{"format":5}}}`, `"description":"(format: int-or-string)"`},
	{`{"properties":{"a":{"type":"string","enum":[1,2]},"b":{"enum":["x",1,null]},"c":{"type":"integer","enum":["1"]}}}`, `"a":{"enum":[1,2],"type":"integer"}`},
	{`{"properties":{"a":{"type":"string","enum":["x","x",""]},"b":{"enum":[]},"c":{"enum":"x"},"d":{"enum":[["x"],{}]}}}`, `"a":{"enum":["x",""],"type":"string"}`},
	{`{"properties":{"$filter":{"type":"string"},"a b":{},"ü":{},"":{}},"required":["$filter"]}`, `"$filter":{"type":"string"}`},
	{`{"properties":{"a":{"type":"string","required":true},"b":{"required":false}}}`, `"required":["a"]`},
	{`{"type":"object","properties":{"a":{}},"required":["a","b","a",5]}`, `"required":["a","b"]`},
	{`{"type":"object","properties":{},"required":[]}`, `{"properties":{},"type":"object"}`},
	{`{"properties":{"a":{"type":"object","additionalProperties":{"type":"int"}},"b":{"type":"object","additionalProperties":"false"},"c":{"type":"object","additionalProperties":{}},"d":{"type":"object","additionalProperties":[]}}}`, `"additionalProperties":{"type":"integer"}`},
	{`{"properties":{"a":{"type":"object","patternProperties":{"^x":{"type":"string"}},"additionalProperties":false}}}`, `"additionalProperties":{"type":"string"}`},
	{`{"properties":{"a":{"$schema":"x","$id":"y","$comment":"z","x-order":1,"contentEncoding":"base64","deprecated":true,"examples":"x","description":5,"title":[]}}}`, `"a":{}`},
	{`{"properties":{"a":{"allOf":[{"$ref":"#/$defs/e"}],"description":"d"}},"$defs":{"e":{"enum":["x"]}}}`, `"a":{"description":"d","enum":["x"],"type":"string"}`},
	{`{"properties":{"a":{"anyOf":[false]},"b":{"allOf":[false]}},"required":["a","b"]}`, `"properties":{}`},
	{`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null},"b":{"type":"array","items":{"anyOf":[{"type":"array","items":[]},{"type":"array"}]}}}}`, `"anyOf":[{"type":"string"},{"type":"null"}],"default":null`},
	{`{"properties":{"a":{"type":"null"}}}`, `"a":{"type":"null"}`},
	{`{"properties":{"type":{"type":"string"},"properties":{"type":"object"},"required":{"type":"boolean"},"items":{"type":"array"},"$ref":{"type":"string"}},"required":["type"]}`, `"required":["type"]`},
}

// TestShapes brings schemas that a provider has refused into form.
func TestShapes(t *testing.T) {
	for _, s := range shapes {
		if form := accepted(t, s.schema); !strings.Contains(string(form), s.want) {
			t.Errorf("%s\n%s\nwant %s", s.schema, form, s.want)
		}
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
	keywords := append([]string{"oneOf", "allOf", "not", "const", "$ref", "$defs", "definitions", "prefixItems", "additionalItems", "patternProperties", "nullable", "divisibleBy", "if", "x-y"}, known...)
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
