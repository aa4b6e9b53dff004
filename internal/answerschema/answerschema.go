// Package answerschema checks the answer of a turn against a JSON Schema that a person gave. It
// guarantees that an accepted answer is one JSON value that is valid against the schema.
package answerschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/bb2d0cf4/agent/internal/regularfile"
)

// maxSize is the most bytes of a schema, which goes with every request.
const maxSize = 64 << 10

// Schema is a JSON Schema of draft 7 or 2020-12.
type Schema struct {
	text     json.RawMessage
	resolved *jsonschema.Resolved
}

// Load reads a schema from a file.
func Load(file string) (*Schema, error) {
	data, err := regularfile.ReadFile(file, maxSize)
	if errors.Is(err, regularfile.ErrTooLarge) {
		return nil, fmt.Errorf("it has more than %d KiB", maxSize>>10)
	}
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := json.Compact(&text, data); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("it is not a JSON Schema: %w", err)
	}
	resolved, err := s.Resolve(nil) // without references to other files
	if err != nil {
		return nil, fmt.Errorf("it is not a JSON Schema that can be used: %w", err)
	}
	return &Schema{text.Bytes(), resolved}, nil
}

// Text returns the schema as JSON; nil for a nil *Schema.
func (s *Schema) Text() json.RawMessage {
	if s == nil {
		return nil
	}
	return s.text
}

// Check returns the JSON value that is all of an answer, perhaps in one code block. The error explains
// why it is not valid.
func (s *Schema) Check(answer string) (json.RawMessage, error) {
	text := strings.TrimSpace(answer)
	if inner, ok := strings.CutSuffix(text, "```"); ok {
		for _, fence := range []string{"```json\n", "```\n"} {
			if inner, ok := strings.CutPrefix(inner, fence); ok && !strings.Contains(inner, "```") {
				text = strings.TrimSpace(inner)
			}
		}
	}
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("it is not one JSON value: %w", err)
	}
	if err := s.resolved.Validate(value); err != nil {
		return nil, err
	}
	return json.RawMessage(text), nil
}

// Ask tells a model the form of its answer.
func (s *Schema) Ask() string {
	return "[Your last answer, after all calls, is read by a program: it has to be one JSON value and nothing else, without a code block, " +
		"valid against this JSON Schema: " + string(s.text) + "]"
}

// AskAgain tells it why an answer is not accepted.
func (s *Schema) AskAgain(why error) string {
	return "[Your answer is not valid against the JSON Schema: " + why.Error() + ". " +
		"Answer again with the JSON value alone, in the form that was described.]"
}
