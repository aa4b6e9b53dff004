package toolschema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxKey is the most bytes that the servers of Anthropic and Google take in the name of a property.
const maxKey = 64

// Messages returns a schema in form for the Messages API, which takes only few characters in
// the names of properties: others are described.
func Messages(schema json.RawMessage) json.RawMessage { return changed(schema, describeOdd) }

// describeOdd describes the properties whose names a provider does not take.
func describeOdd(s object) {
	properties, _ := s["properties"].(object)
	var odd []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !plainKey(name) {
			odd = append(odd, fmt.Sprintf("%q: %s", name, brief(properties[name])))
			delete(properties, name)
		}
	}
	if len(odd) > 0 {
		describe(s, "further properties: "+strings.Join(odd, "; "))
		delete(s, "additionalProperties")
		require(s, slices.DeleteFunc(namesOf(s["required"]), func(name string) bool { return !plainKey(name) }))
	}
}

// Unbounded returns a schema in form for the servers of xAI, which take no bounds of lengths: they are described.
func Unbounded(schema json.RawMessage) json.RawMessage {
	return changed(schema, func(s object) {
		for _, key := range []string{"minLength", "maxLength", "minItems", "maxItems"} {
			if n, ok := s[key]; ok {
				delete(s, key)
				describe(s, fmt.Sprint(key, " ", n))
			}
		}
	})
}

func plainKey(name string) bool {
	return name != "" && len(name) <= maxKey && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '.' && r != '-'
	})
}

// brief describes a property in words.
func brief(s any) string {
	p, _ := s.(object)
	text, _ := p["description"].(string)
	return strings.TrimSpace(strings.Join(typesOf(p), " or ") + " " + text)
}

// Typed returns a schema in form for the servers of Google, and of others that want a type in each part: one type
// each, and values that are texts.
func Typed(schema json.RawMessage) json.RawMessage {
	return changed(schema, func(s object) {
		for _, key := range []string{"additionalProperties", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems", "pattern", "default"} {
			delete(s, key)
		}
		if s["format"] != "date-time" {
			delete(s, "format")
		}
		names := slices.DeleteFunc(typesOf(s), func(name string) bool { return name == "null" })
		if len(names) > 0 {
			s["type"] = names[0]
		}
		list, _ := s["anyOf"].([]any)
		list = slices.DeleteFunc(slices.Clone(list), func(one any) bool { return objectOf(one)["type"] == "null" })
		text, _ := s["description"].(string)
		switch {
		case len(list) == 1:
			delete(s, "anyOf")
			merge(s, objectOf(list[0]))
		case len(list) > 1:
			clear(s)
			s["anyOf"] = list
			if text != "" {
				s["description"] = text
			}
		case s["type"] == nil || s["type"] == "null":
			s["type"] = "string"
		}
		onlyTexts(s)
		describeOdd(s)
		if s["type"] == "object" && s["properties"] == nil {
			s["properties"] = object{}
		}
		if s["type"] == "array" && s["items"] == nil {
			s["items"] = object{"type": "string"}
		}
	})
}

// onlyTexts describes the allowed values of a schema, unless they are texts.
func onlyTexts(s object) {
	values, ok := s["enum"].([]any)
	if !ok {
		return
	}
	plain := slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil || v == "" })
	s["enum"] = plain
	if len(plain) == 0 || s["type"] != "string" || slices.ContainsFunc(plain, func(v any) bool { return kindOf(v) != "string" }) {
		delete(s, "enum")
		describe(s, fmt.Sprint("one of ", plain))
	}
}

// changed returns a schema in form after a change of it and of those in it.
func changed(schema json.RawMessage, change func(object)) json.RawMessage {
	var s any
	if json.Unmarshal(schema, &s) != nil {
		return schema
	}
	each(s, change)
	data, _ := json.Marshal(s) // of JSON: it cannot fail
	return data
}

// each calls change with a schema in form and with those in it, the inner ones first.
func each(schema any, change func(object)) {
	s, ok := schema.(object)
	if !ok {
		return
	}
	if properties, ok := s["properties"].(object); ok {
		for _, one := range properties {
			each(one, change)
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		each(s[key], change)
	}
	for _, one := range listOf(s["anyOf"]) {
		each(one, change)
	}
	change(s)
}
