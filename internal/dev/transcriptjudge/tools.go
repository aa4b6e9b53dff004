package transcriptjudge

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Rules are the published rules of a provider for tools.
type Rules struct {
	// Functions is the most tools of a request, and Description the most characters of a description; 0 for no bound.
	Functions, Description int
	// Typed: each value of a schema has one type, alternatives have theirs, and enums are texts.
	Typed bool
	// Keys matches the names of properties; nil for any.
	Keys *regexp.Regexp
	// Names matches the names of tools.
	Names *regexp.Regexp
	// Unknown are the keywords of schemas that are refused.
	Unknown []string
}

var (
	plainName  = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	letterName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{1,63}$`)
	plainKey   = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	googleOnly = []string{"additionalProperties", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems", "pattern", "default"}
	lengths    = []string{"minLength", "maxLength", "minItems", "maxItems"}
)

// Providers are the rules of providers, by their names.
var Providers = map[string]Rules{
	"anthropic": {Names: plainName, Keys: plainKey},
	"openai":    {Names: plainName, Functions: maxFunctions},
	"azure":     {Names: plainName, Functions: maxFunctions, Description: 1024},
	"gemini":    {Names: letterName, Keys: plainKey, Functions: maxFunctions, Typed: true, Unknown: googleOnly},
	"moonshot":  {Names: letterName, Functions: maxFunctions, Typed: true},
	"fireworks": {Names: plainName, Functions: maxFunctions, Typed: true},
	"xai":       {Names: plainName, Functions: maxFunctions, Unknown: lengths},
	"mistral":   {Names: plainName, Functions: maxFunctions},
	"deepseek":  {Names: plainName, Functions: maxFunctions},
	"groq":      {Names: plainName, Functions: maxFunctions},
}

// declared is the definition of a tool on any wire.
type declared struct {
	Type        string
	Name        string
	Description string
	Parameters  json.RawMessage
	InputSchema json.RawMessage `json:"input_schema"`
	Function    *declared
}

// Tools returns why the provider refuses the tools of body, a request of any wire, and how many there are.
func (r Rules) Tools(body []byte) (n int, err error) {
	var req struct{ Tools []declared }
	if err := json.Unmarshal(body, &req); err != nil {
		return 0, err
	}
	var errs []error
	seen := map[string]bool{}
	for _, t := range req.Tools {
		if t.Function != nil {
			t = *t.Function
		}
		schema := t.Parameters
		if schema == nil {
			schema = t.InputSchema
		}
		if seen[t.Name] || !r.Names.MatchString(t.Name) {
			errs = append(errs, fmt.Errorf("tool %q: twice, or a bad name", t.Name))
		}
		seen[t.Name] = true
		if n := utf8.RuneCountInString(t.Description); n == 0 || r.Description > 0 && n > r.Description {
			errs = append(errs, fmt.Errorf("tool %q: a description of %d characters", t.Name, n))
		}
		if err := r.Schema(schema); err != nil {
			errs = append(errs, fmt.Errorf("tool %q: %w", t.Name, err))
		}
	}
	if r.Functions > 0 && len(req.Tools) > r.Functions {
		errs = append(errs, fmt.Errorf("%d tools", len(req.Tools)))
	}
	return len(req.Tools), errors.Join(errs...)
}

// Schema returns why the provider, or JSON Schema 2020-12, refuses the schema of a tool's arguments.
func (r Rules) Schema(data []byte) error {
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
	return r.schema(s, "")
}

// Keywords are the keywords that all providers know.
var Keywords = []string{
	"type", "title", "description", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "default", "format", "pattern",
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems",
}

func (r Rules) schema(value any, at string) error {
	s, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %v is no schema", at, value)
	}
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(at+": "+format, args...)) }
	for key, v := range s {
		if !slices.Contains(Keywords, key) || slices.Contains(r.Unknown, key) {
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
	types := r.types(s, fail)
	if slices.Contains(types, "array") && s["items"] == nil {
		fail("an array without items")
	}
	if pattern, ok := s["pattern"].(string); ok {
		if _, err := regexp.Compile(pattern); err != nil || strings.Contains(pattern, "(?") {
			fail("pattern %s", pattern)
		}
	}
	r.values(s, types, fail)
	errs = append(errs, r.inner(s, at, fail)...)
	return errors.Join(errs...)
}

func (r Rules) types(s map[string]any, fail func(string, ...any)) (types []string) {
	switch t := s["type"].(type) {
	case nil:
		if r.Typed && s["anyOf"] == nil {
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
		if r.Typed || len(t) == 0 {
			fail("a list of types")
		}
	default:
		fail("type %v", t)
	}
	for _, name := range types {
		if !slices.Contains([]string{"string", "number", "integer", "boolean", "object", "array", "null"}, name) || r.Typed && name == "null" {
			fail("type %q", name)
		}
	}
	return types
}

func (r Rules) values(s map[string]any, types []string, fail func(string, ...any)) {
	v, ok := s["enum"]
	list, isList := v.([]any)
	if ok && (!isList || len(list) == 0 || len(list) > 500) {
		fail("enum %.200v", v)
	}
	for _, one := range list {
		if kind := kindOf(one); types != nil && !slices.Contains(types, kind) && (kind != "integer" || !slices.Contains(types, "number")) {
			fail("%v of the enum is no %v", one, types)
		}
		if r.Typed && (types == nil || types[0] != "string" || one == "") {
			fail("%v in an enum", one)
		}
	}
}

func (r Rules) inner(s map[string]any, at string, fail func(string, ...any)) (errs []error) {
	errs = r.properties(s, at, fail)
	if items, ok := s["items"]; ok {
		errs = append(errs, r.schema(items, at+"/items"))
	}
	if others, ok := s["additionalProperties"]; ok && others != false {
		errs = append(errs, r.schema(others, at+"/additionalProperties"))
	}
	if branches, ok := s["anyOf"]; ok {
		list, _ := branches.([]any)
		if len(list) < 2 || s["type"] != nil {
			fail("anyOf %v", branches)
		}
		for _, one := range list {
			errs = append(errs, r.schema(one, at+"/anyOf"))
		}
	}
	if s["format"] != nil && s["format"] != "date-time" && slices.Contains(r.Unknown, "pattern") {
		fail("format %v", s["format"])
	}
	return errs
}

func (r Rules) properties(s map[string]any, at string, fail func(string, ...any)) (errs []error) {
	properties, _ := s["properties"].(map[string]any)
	if _, ok := s["properties"]; ok && properties == nil {
		fail("properties %v", s["properties"])
	}
	for name, p := range properties {
		if r.Keys != nil && !r.Keys.MatchString(name) {
			fail("property %q", name)
		}
		errs = append(errs, r.schema(p, at+"/"+name))
	}
	required, ok := s["required"]
	if list, _ := required.([]any); ok && len(list) == 0 {
		fail("required %v", required)
	} else {
		for _, name := range list {
			if text, ok := name.(string); !ok || properties[text] == nil {
				fail("required %v", name)
			}
		}
	}
	return errs
}

// kindOf returns the type of a value of JSON.
func kindOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case float64:
		if value == math.Trunc(value) {
			return "integer"
		}
	}
	return "number"
}
