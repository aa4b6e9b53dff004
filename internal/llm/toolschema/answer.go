package toolschema

import (
	"encoding/json"
	"slices"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// Strict reports whether a server can keep an answer to a schema strictly: every object lists its
// members, demands all of them and allows no others.
func Strict(schema json.RawMessage) bool {
	var s any
	if json.Unmarshal(schema, &s) != nil {
		return false
	}
	root := objectOf(s)
	return root["type"] == "object" && strict(s)
}

func strict(schema any) bool {
	if list, ok := schema.([]any); ok {
		return !slices.ContainsFunc(list, func(one any) bool { return !strict(one) })
	}
	s, ok := schema.(object)
	if !ok {
		return true
	}
	properties, _ := s["properties"].(object)
	if slices.Contains(typesOf(s), "object") || properties != nil {
		required := namesOf(s["required"])
		for name := range properties {
			if !slices.Contains(required, name) {
				return false
			}
		}
		if s["additionalProperties"] != false {
			return false
		}
	}
	for key, one := range s {
		if key == "oneOf" || key == "allOf" || key == "not" || key == "if" || key == "patternProperties" || !strict(one) {
			return false
		}
	}
	return true
}

// refusals match the refusals of the form of an answer, or of its schema.
var refusals = lazyregexp.New(`response_format|text\.format|output_config\.format|output_format|output format|\bjson_schema\b|structured output|custom grammar constraints`)

// RefusesAnswer reports whether the text of a refusal, in lower case, is about the schema of the answer.
func RefusesAnswer(text string) bool { return refusals.MatchString(text) }
