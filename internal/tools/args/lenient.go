package args

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bb2d0cf4/agent/internal/llm/lenient"
	"github.com/bb2d0cf4/agent/internal/nearest"
)

// Read is Decode for arguments as models write them: with another name for a key, a
// number, a truth or JSON inside a string, and keys that the tool does not have. left
// lists those; they are left out if the call is valid without.
func Read[A any](params []Param, args []byte) (a A, left []string, err error) {
	l, ok := parse(args)
	if !ok {
		a, err = Decode[A](params, args)
		return a, nil, err
	}
	l.fit(params)
	if a, err = Decode[A](params, l.encode()); err == nil {
		return a, nil, nil
	}
	if left = l.prune(params); len(left) > 0 {
		if b, err := Decode[A](params, l.encode()); err == nil {
			return b, left, nil
		}
	}
	return a, nil, err
}

// list is an object whose keys and values are not checked yet, in their order.
type list []field

type field struct {
	key   string
	value jsontext.Value
}

// parse returns the members of an object; ok is false for other JSON.
func parse(args []byte) (l list, ok bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(args))
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return nil, false
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		l = append(l, field{key, value.Clone()})
	}
	_, err := dec.ReadToken()
	return l, err == nil && len(bytes.TrimSpace(args[dec.InputOffset():])) == 0
}

// encode returns l as JSON.
func (l list) encode() []byte {
	out := []byte{'{'}
	for i, f := range l {
		if i > 0 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, f.key) // it was decoded: it is valid
		out = append(append(out, ':'), f.value...)
	}
	return append(out, '}')
}

func (l list) has(key string) bool {
	return slices.ContainsFunc(l, func(f field) bool { return f.key == key })
}

// fit renames keys and converts values where only one reading is possible.
func (l list) fit(params []Param) {
	for i, f := range l {
		if key, ok := alias(params, f.key); ok && !l.has(key) {
			l[i].key = key
		}
		if n := slices.IndexFunc(params, func(p Param) bool { return p.Name == l[i].key }); n >= 0 {
			l[i].value = params[n].rename(params[n].convert(f.value))
		}
	}
}

// rename renames the keys of the objects in an array where only one reading is possible.
func (p Param) rename(value jsontext.Value) jsontext.Value {
	var items []jsontext.Value
	if p.Members == nil || value.Kind() != '[' || json.Unmarshal(value, &items) != nil {
		return value
	}
	members := make([]Param, len(p.Members))
	for i, name := range p.Members {
		members[i] = Param{Name: name, Kind: Text}
	}
	for i, item := range items {
		if l, ok := parse(item); ok {
			l.fit(members)
			items[i] = l.encode()
		}
	}
	out, err := json.Marshal(items)
	if err != nil {
		return value
	}
	return out
}

// aliases are other tools' names of our keys.
var aliases = map[string]string{
	"file_path": "path", "filename": "path", "source": "path", "source_path": "path", "old_path": "path",
	"destination": "to", "destination_path": "to", "new_path": "to",
	"old_str": "old_string", "old_text": "old_string", "new_str": "new_string", "new_text": "new_string",
	"contents": "content", "file_text": "content", "input": "diff", "patch": "diff",
	"pattern": "regex", "query": "regex", "glob": "file_pattern", "include": "file_pattern",
	"cmd": "command", "workdir": "cwd", "working_directory": "cwd",
}

// alias returns the key that a model means by one that the tool does not have.
func alias(params []Param, key string) (string, bool) {
	known := func(key string) bool {
		return slices.ContainsFunc(params, func(p Param) bool { return p.Name == key })
	}
	if known(key) {
		return "", false
	}
	snake := snakeCase(key)
	if known(snake) {
		return snake, true
	}
	return aliases[snake], known(aliases[snake])
}

// plain returns a key without the characters that look like none, or only separate words.
func plain(key string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Cc) {
			return -1
		}
		return r
	}, key)
}

// snakeCase returns old_string for oldString.
func snakeCase(key string) string {
	var b strings.Builder
	for i, r := range key {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// convert returns the value in the parameter's type if it is a string that holds it.
func (p Param) convert(value jsontext.Value) jsontext.Value {
	var text string
	if p.Kind == Text || value.Kind() != '"' || json.Unmarshal(value, &text) != nil {
		return value
	}
	text = strings.TrimSpace(text)
	switch p.Kind {
	case Integer:
		if n, err := strconv.Atoi(text); err == nil {
			return jsontext.Value(strconv.Itoa(n))
		}
	case Boolean:
		if lower := strings.ToLower(text); lower == "true" || lower == "false" {
			return jsontext.Value(lower)
		}
	default:
		inner, rest, ok := lenient.Value(text, true)
		if ok && strings.TrimSpace(rest) == "" && strings.ContainsAny(text[:1], "[{") {
			return jsontext.Value(inner)
		}
	}
	return value
}

// prune removes the keys that the tool does not have, and returns them. One that is
// nearly a missing key stays: it may be meant. So does one that other programs read as a
// key of the tool, since they ignore case: the call would have two readings.
func (l *list) prune(params []Param) (left []string) {
	var missing []string
	for _, p := range params {
		if !l.has(p.Name) {
			missing = append(missing, p.Name)
		}
	}
	folds := func(key string) bool {
		return slices.ContainsFunc(params, func(p Param) bool { return strings.EqualFold(plain(p.Name), plain(key)) })
	}
	*l = slices.DeleteFunc(*l, func(f field) bool {
		known := slices.ContainsFunc(params, func(p Param) bool { return p.Name == f.key })
		_, other := alias(params, f.key)
		if known || other || folds(f.key) || nearest.Name(f.key, missing) != "" {
			return false
		}
		left = append(left, f.key)
		return true
	})
	return left
}
