// Package toolschema brings the JSON schemas of foreign tools into a form that every provider
// takes. It guarantees an object with properties, of few keywords, in which each value has
// the type that JSON Schema demands, and in which references are resolved. Constraints that have
// no such form are dropped, or told in a description: the tool's own program checks them.
package toolschema

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a schema. Deeper or further parts are of any type.
const (
	maxDepth = 24
	maxNodes = 3000
	maxEnum  = 250 // values
	maxShown = 20  // values of a longer one in the description
)

// object is a schema or a part of one.
type object = map[string]any

// mender brings the parts of one schema into form.
type mender struct {
	root  object
	nodes int
	open  []string // the references in whose targets it is
}

// Of returns the form of a tool's schema, which may be any value of JSON.
func Of(schema any) json.RawMessage {
	root, _ := schema.(object)
	m := &mender{root: root}
	out, ok := m.schema(root, 0).(object)
	if !ok || !slices.Contains(typesOf(out), "object") {
		out = object{}
	}
	out["type"] = "object"
	for key := range out {
		if !slices.Contains([]string{"type", "properties", "required", "additionalProperties", "description", "title"}, key) {
			delete(out, key)
		}
	}
	if out["properties"] == nil {
		out["properties"] = object{}
	}
	data, _ := json.Marshal(out) // of JSON: it cannot fail
	return data
}

// schema returns the form of a schema; false if nothing can be valid.
func (m *mender) schema(value any, depth int) any {
	if m.nodes++; depth > maxDepth || m.nodes > maxNodes {
		return object{}
	}
	switch value := value.(type) {
	case bool:
		if !value {
			return false
		}
	case string: // "name": "string"
		return m.object(object{"type": value}, depth)
	case []any: // "name": ["string", "null"]
		return m.object(object{"type": value}, depth)
	case object:
		return m.object(value, depth)
	}
	return object{}
}

func (m *mender) object(in object, depth int) any {
	if ref, ok := in["$ref"].(string); ok {
		return m.reference(ref, in, depth)
	}
	out := object{}
	m.types(in, out, depth)
	texts(in, out)
	numbers(in, out)
	m.properties(in, out, depth)
	m.items(in, out, depth)
	values(in, out)
	if !m.combine(in, out, depth) {
		return false
	}
	if nullable, _ := in["nullable"].(bool); nullable {
		allowNull(out)
	}
	return settle(out)
}

// kinds are the types of JSON Schema, by the names that people write.
var kinds = map[string]string{
	"string": "string", "number": "number", "integer": "integer", "boolean": "boolean", "object": "object", "array": "array", "null": "null",
	"int": "integer", "int32": "integer", "int64": "integer", "long": "integer", "float": "number", "double": "number", "decimal": "number", "numeric": "number",
	"bool": "boolean", "str": "string", "text": "string", "char": "string", "date": "string", "datetime": "string", "date-time": "string", "time": "string",
	"uuid": "string", "uri": "string", "url": "string", "email": "string", "file": "string", "path": "string", "binary": "string", "bytes": "string", "enum": "string",
	"dict": "object", "map": "object", "record": "object", "struct": "object", "json": "object", "list": "array", "tuple": "array", "set": "array",
	"none": "null", "nil": "null",
}

// types takes the type, which may be a list or have another name.
func (m *mender) types(in, out object, depth int) {
	list, isList := in["type"].([]any)
	if !isList {
		list = []any{in["type"]}
	}
	var names []any
	for _, one := range list {
		if inner, ok := one.(object); ok { // a schema as a type, as in draft 3
			addBranches(out, m.schema(inner, depth+1))
			continue
		}
		text, _ := one.(string)
		for _, part := range strings.Split(text, "|") {
			part = strings.ToLower(strings.TrimSpace(part))
			if of, ok := strings.CutSuffix(part, "[]"); ok {
				part, out["items"] = "array", m.schema(of, depth+1)
			}
			if kind := kinds[part]; kind != "" && !slices.Contains(names, any(kind)) {
				names = append(names, kind)
			}
		}
	}
	if out["anyOf"] == nil {
		setTypes(out, names)
		return
	}
	for _, name := range names {
		addBranches(out, object{"type": name})
	}
}

func setTypes(out object, names []any) {
	switch len(names) {
	case 0:
		delete(out, "type")
	case 1:
		out["type"] = names[0]
	default:
		out["type"] = names
	}
}

// typesOf returns the types of a schema in form.
func typesOf(s object) []string {
	switch t := s["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var names []string
		for _, one := range t {
			if name, ok := one.(string); ok {
				names = append(names, name)
			}
		}
		return names
	}
	return nil
}

// formats are the formats of JSON Schema that providers know.
var formats = []string{"date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid", "uri"}

// texts takes the keywords whose values are texts.
func texts(in, out object) {
	for _, key := range []string{"title", "description"} {
		if text, ok := in[key].(string); ok {
			out[key] = text
		}
	}
	if format, ok := in["format"].(string); ok {
		if slices.Contains(formats, format) {
			out["format"] = format
		} else {
			describe(out, "format: "+format)
		}
	}
	if pattern, ok := in["pattern"].(string); ok {
		if plainPattern(pattern) {
			out["pattern"] = pattern
		} else {
			describe(out, "pattern: "+pattern)
		}
	}
	if value, ok := in["default"]; ok {
		out["default"] = value
	}
	if unique, ok := in["uniqueItems"].(bool); ok {
		out["uniqueItems"] = unique
	}
}

// describe adds a text to a schema's description.
func describe(out object, text string) {
	before, _ := out["description"].(string)
	if !strings.Contains(before, text) {
		out["description"] = strings.TrimSpace(before + " (" + text + ")")
	}
}

// numbers takes the bounds. In draft 4 an exclusive one was a flag beside the other.
func numbers(in, out object) {
	for _, key := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} {
		if n, ok := numberOf(in[key]); ok {
			out[key] = n
		}
	}
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		if flag, ok := in[exclusive].(bool); ok && flag && out[bound] != nil {
			out[exclusive] = out[bound]
			delete(out, bound)
		}
	}
	for _, value := range []any{in["divisibleBy"], in["multipleOf"]} {
		if n, ok := numberOf(value); ok && n > 0 {
			out["multipleOf"] = n
		}
	}
	sizes(in, out)
}

// sizes takes the bounds of lengths.
func sizes(in, out object) {
	for _, key := range []string{"minLength", "maxLength", "minItems", "maxItems"} {
		if n, ok := numberOf(in[key]); ok && n >= 0 && n == math.Trunc(n) && n < 1<<53 {
			out[key] = n
		}
	}
}

// numberOf returns a number, which may be written as a text.
func numberOf(value any) (float64, bool) {
	switch value := value.(type) {
	case float64:
		return value, true
	case json.Number:
		n, err := value.Float64()
		return n, err == nil
	case string:
		n, err := strconv.ParseFloat(value, 64)
		return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
	}
	return 0, false
}

// items takes the schema of a list's items. That of a tuple allows each of its members at
// every place.
func (m *mender) items(in, out object, depth int) {
	tuple, ok := in["prefixItems"].([]any)
	rest := in["items"]
	if list, isList := rest.([]any); isList && !ok {
		tuple, rest, ok = list, in["additionalItems"], true
	}
	switch {
	case ok:
		one := object{}
		for _, member := range tuple {
			addBranches(one, m.schema(member, depth+1))
		}
		switch rest {
		case false, nil:
			if out["maxItems"] == nil && rest == false {
				out["maxItems"] = float64(len(tuple))
			}
		default:
			addBranches(one, m.schema(rest, depth+1))
		}
		out["items"] = flat(one)
	case rest == false:
		out["items"], out["maxItems"] = object{}, float64(0)
	case rest != nil:
		out["items"] = m.schema(rest, depth+1)
	}
	if slices.Contains(typesOf(out), "array") && (out["items"] == nil || out["items"] == false) {
		out["items"] = object{}
	}
}

// settle adds the type that other keywords imply, and keeps it in the alternatives only, which
// are at least two.
func settle(out object) object {
	if list, ok := out["anyOf"].([]any); ok {
		branches := make([]object, len(list))
		for i, one := range list {
			branches[i] = objectOf(one)
		}
		delete(out, "anyOf")
		if len(branches) == 1 {
			merge(out, branches[0])
			return settle(out)
		}
		alternatives(out, branches)
		return out
	}
	fit(out)
	if out["type"] == nil && out["properties"] != nil {
		out["type"] = "object"
	} else if out["type"] == nil && out["items"] != nil {
		out["type"] = "array"
	}
	if slices.Contains(typesOf(out), "array") && out["items"] == nil {
		out["items"] = object{}
	}
	return out
}

func allowNull(out object) {
	names := typesOf(out)
	switch {
	case out["anyOf"] != nil:
		addBranches(out, object{"type": "null"})
	case len(names) > 0 && !slices.Contains(names, "null"):
		list := []any{}
		for _, name := range names {
			list = append(list, name)
		}
		setTypes(out, append(list, "null"))
	}
	if list, ok := out["enum"].([]any); ok && !slices.Contains(list, nil) {
		out["enum"] = append(slices.Clip(list), nil)
	}
}

// values takes the list of allowed values, or the only one.
func values(in, out object) {
	list, ok := in["enum"].([]any)
	if value, only := in["const"]; only {
		list, ok = []any{value}, true
	}
	if !ok {
		return
	}
	var distinct []any
	var texts []string
	for _, value := range list {
		data, err := json.Marshal(value)
		if kind := kindOf(value); err == nil && kind != "object" && kind != "array" && !slices.Contains(texts, string(data)) {
			texts, distinct = append(texts, string(data)), append(distinct, value)
		}
	}
	switch {
	case len(distinct) == 0:
		return
	case len(distinct) > maxEnum:
		describe(out, fmt.Sprintf("one of %d values, for example %s", len(distinct), strings.Join(texts[:maxShown], ", ")))
		return
	}
	out["enum"] = distinct
}

// fit gives a schema the types of its allowed values, unless they have the type that was given.
func fit(out object) {
	list, ok := out["enum"].([]any)
	if !ok {
		return
	}
	names, have := []any{}, typesOf(out)
	fits := true
	for _, value := range list {
		kind := kindOf(value)
		fits = fits && (slices.Contains(have, kind) || kind == "integer" && slices.Contains(have, "number"))
		if !slices.Contains(names, any(kind)) {
			names = append(names, kind)
		}
	}
	if !fits {
		setTypes(out, names)
		for _, key := range []string{"properties", "required", "additionalProperties", "items"} {
			delete(out, key)
		}
	}
}

// kindOf returns the type of a value.
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
	case object:
		return "object"
	default:
		if n, ok := numberOf(value); ok && n == math.Trunc(n) {
			return "integer"
		}
	}
	return "number"
}
