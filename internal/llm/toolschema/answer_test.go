package toolschema

import (
	"encoding/json"
	"testing"
)

func TestStrict(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`:                                                                          true,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}`:                                                                             false,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                                                                                                       false,
		`{"type":"array","items":{"type":"string"}}`:                                                                                                                                    false,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{}},"required":["b"]}}},"required":["a"],"additionalProperties":false}`:          false,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"required":["a"],"additionalProperties":false,"$defs":{"x":{"type":["object","null"],"additionalProperties":false}}}`: true,
		`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"null"}]}},"required":["a"],"additionalProperties":false}`:                                              false,
		`{}`:   false,
		`true`: false,
	} {
		if got := Strict(json.RawMessage(schema)); got != want {
			t.Errorf("%s: %v", schema, got)
		}
	}
}
