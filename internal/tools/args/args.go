// Package args decodes the arguments of a tool call. It guarantees that arguments with no
// or several readings in the tool's schema are refused, with a message that tells a model
// its remedy: repeated and missing keys, wrong types, and text that is not valid Unicode.
package args

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/nearest"
)

// Kind is the JSON type of a parameter.
type Kind string

// The kinds.
const (
	Text    Kind = "string"
	Integer Kind = "integer"
	Boolean Kind = "boolean"
)

// Param is one parameter of a tool. The list of a tool's parameters gives its schema and
// the check of its arguments.
type Param struct {
	Name     string
	Kind     Kind
	Doc      string // for the model; empty if the name is enough
	Required bool
	Schema   string // JSON Schema, in place of Kind and Doc
	// Members lists the keys of the objects in the array that Schema describes.
	Members []string
}

// Schema returns the JSON Schema of an object with the given parameters.
func Schema(params []Param) []byte {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	var required []string
	for i, p := range params {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", p.Name, p.jsonSchema())
		if p.Required {
			required = append(required, fmt.Sprintf("%q", p.Name))
		}
	}
	b.WriteString("}")
	if len(required) > 0 {
		b.WriteString(`,"required":[` + strings.Join(required, ",") + "]")
	}
	b.WriteString(`,"additionalProperties":false}`)
	return []byte(b.String())
}

func (p Param) jsonSchema() string {
	switch {
	case p.Schema != "":
		return p.Schema
	case p.Doc == "":
		return fmt.Sprintf(`{"type":%q}`, p.Kind)
	}
	return fmt.Sprintf(`{"type":%q,"description":%q}`, p.Kind, p.Doc)
}

// Decode decodes a tool's arguments into a struct whose members params describe. Unknown,
// repeated and missing keys, wrong types, and text that is not valid Unicode are errors
// that tell a model what to send instead. null counts as missing, and 3.0 as the integer
// 3: they are the same number in JSON, and some models write all numbers that way.
func Decode[A any](params []Param, args []byte) (A, error) {
	var a A
	if len(strings.TrimSpace(string(args))) == 0 {
		args = []byte("{}")
	}
	if err := json.Unmarshal(args, &a, json.RejectUnknownMembers(true), json.WithUnmarshalers(wholeNumbers())); err != nil {
		return a, explainArgs(params, err)
	}
	present, err := members(args)
	if err != nil {
		return a, explainArgs(params, err)
	}
	for _, p := range params {
		if p.Required && !present[p.Name] {
			return a, fmt.Errorf("the key %q is missing; %s", p.Name, describe(params))
		}
	}
	return a, nil
}

// wholeNumbers decodes an integer in any notation. It leaves other values to the decoder
// and its error.
func wholeNumbers() *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(dec *jsontext.Decoder, n *int) error {
		if dec.PeekKind() != '0' {
			return errors.ErrUnsupported
		}
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		f, err := strconv.ParseFloat(string(value), 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) > maxInteger {
			return notWholeError(value)
		}
		*n = int(f)
		return nil
	})
}

// notWholeError is a number, as sent, in place of an integer.
type notWholeError string

// maxNumber is how much of a number an error shows, in bytes.
const maxNumber = 30

func (e notWholeError) Error() string {
	return "has to be an integer, not " + clip.Bytes(string(e), maxNumber, "…")
}

// maxInteger is the largest integer n for which a float64 holds every integer up to n.
const maxInteger = 1 << 53

// members returns the names of an object's members that are not null.
func members(args []byte) (map[string]bool, error) {
	dec := jsontext.NewDecoder(strings.NewReader(string(args)))
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	present := map[string]bool{}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		present[key] = dec.PeekKind() != 'n'
		if err := dec.SkipValue(); err != nil {
			return nil, err
		}
	}
	return present, nil
}

// describe lists the keys of a tool.
func describe(params []Param) string {
	keys := make([]string, len(params))
	for i, p := range params {
		keys[i] = p.Name
		if p.Required {
			keys[i] += " (required)"
		}
	}
	return "the keys are: " + strings.Join(keys, ", ")
}

// explainArgs turns an error of the decoder into one for a model.
func explainArgs(params []Param, err error) error {
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		return explainMember(params, semantic)
	}
	var syntactic *jsontext.SyntacticError
	if !errors.As(err, &syntactic) {
		return err
	}
	where := place(syntactic.JSONPointer)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Errorf("the key %q is given twice; give each key once", syntactic.JSONPointer.LastToken())
	case isUnicodeError(syntactic.Err):
		return fmt.Errorf("%s is not valid Unicode (%w): send UTF-8, and characters beyond U+FFFF as themselves or as a whole surrogate pair", where, syntactic.Err)
	}
	return fmt.Errorf("the arguments are not valid JSON at byte %d, in %s (%w): send one JSON object", syntactic.ByteOffset, where, syntactic.Err)
}

func isUnicodeError(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "UTF-8") || strings.Contains(err.Error(), "surrogate"))
}

// explainMember explains to a model the fault of one member.
func explainMember(params []Param, e *json.SemanticError) error {
	key := e.JSONPointer.LastToken()
	if errors.Is(e.Err, json.ErrUnknownName) {
		known := knownKeys(params, e.JSONPointer)
		hint := ""
		if near := nearest.Name(key, known); near != "" {
			hint = fmt.Sprintf(" (did you mean %q?)", near)
		}
		return fmt.Errorf("there is no key %q%s; the keys are: %s", key, hint, strings.Join(known, ", "))
	}
	if e.JSONPointer == "" {
		return fmt.Errorf("the arguments have to be a JSON object, not %s; %s", kindName(e.JSONKind), describe(params))
	}
	var number notWholeError
	if errors.As(e.Err, &number) {
		return fmt.Errorf("%s %w", place(e.JSONPointer), number)
	}
	if e.Err != nil && e.GoType == nil {
		return fmt.Errorf("%s: %w", place(e.JSONPointer), e.Err)
	}
	return fmt.Errorf("%s has to be %s, not %s", place(e.JSONPointer), typeName(e.GoType), kindName(e.JSONKind))
}

// knownKeys returns the keys of the object that at points into.
func knownKeys(params []Param, at jsontext.Pointer) []string {
	top, nested := "", false
	for token := range at.Tokens() {
		if nested = top != ""; nested {
			break
		}
		top = token
	}
	keys := make([]string, len(params))
	for i, p := range params {
		if nested && p.Name == top {
			return p.Members
		}
		keys[i] = p.Name
	}
	return keys
}

func place(at jsontext.Pointer) string {
	if at == "" {
		return "the arguments"
	}
	return fmt.Sprintf("%q", strings.TrimPrefix(string(at), "/"))
}

func typeName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Int:
		return "an integer"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "an array"
	default:
		return "an object"
	}
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[':
		return "an array"
	case '{':
		return "an object"
	}
	return "nothing"
}
