package toolschema

import (
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// combine takes the alternatives and the parts of a schema. It reports false if none of the
// alternatives can be valid.
func (m *mender) combine(in, out object, depth int) bool {
	for _, part := range listOf(in["allOf"]) {
		switch s := m.schema(part, depth+1).(type) {
		case bool:
			return false
		case object:
			merge(out, s)
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		var branches []object
		given := listOf(in[key])
		for _, part := range given {
			if s, ok := m.schema(part, depth+1).(object); ok {
				branches = append(branches, s)
			}
		}
		switch {
		case len(given) == 0:
		case len(branches) == 0:
			return false
		case len(branches) == 1:
			merge(out, branches[0])
		case out["properties"] != nil || depth == 0:
			unite(out, branches)
		default:
			alternatives(out, branches)
		}
	}
	return true
}

// listOf returns a list, or a list of the one object.
func listOf(value any) []any {
	switch value := value.(type) {
	case []any:
		return value
	case object:
		return []any{value}
	}
	return nil
}

// merge adds to a schema the keywords of a schema that holds beside it.
func merge(out, s object) {
	for key, value := range s {
		switch key {
		case "properties":
			all := maps.Clone(objectOf(value))
			if have, ok := out[key].(object); ok {
				maps.Copy(all, have)
			}
			out[key] = all
		case "required":
			require(out, append(namesOf(out[key]), namesOf(value)...))
		case "anyOf":
			for _, branch := range listOf(value) {
				addBranches(out, branch)
			}
		default:
			if _, ok := out[key]; !ok {
				out[key] = value
			}
		}
	}
}

// unite adds to an object the properties of alternatives of it, and describes them: at the
// top, providers take no alternatives.
func unite(out object, branches []object) {
	var sets []string
	var common []string
	for i, b := range branches {
		names := namesOf(b["required"])
		if i == 0 {
			common = names
		}
		common = slices.DeleteFunc(common, func(name string) bool { return !slices.Contains(names, name) })
		sets = append(sets, strings.Join(namesOf(b["required"]), " and "))
		have, _ := out["properties"].(object)
		have = maps.Clone(have)
		if have == nil {
			have = object{}
		}
		inner, _ := b["properties"].(object)
		for _, name := range slices.Sorted(maps.Keys(inner)) {
			old, known := have[name].(object)
			switch {
			case !known || len(old) == 0:
				have[name] = inner[name]
			case len(objectOf(inner[name])) > 0 && !reflect.DeepEqual(old, inner[name]):
				one := object{}
				addBranches(one, old)
				addBranches(one, inner[name])
				have[name] = flat(one)
			}
		}
		out["properties"] = have
	}
	for _, b := range branches {
		if out["type"] == nil && slices.Contains(typesOf(b), "object") {
			out["type"] = "object"
		}
	}
	require(out, append(namesOf(out["required"]), common...))
	if sets = slices.DeleteFunc(sets, func(s string) bool { return s == "" }); len(sets) > 1 {
		describe(out, "give "+strings.Join(sets, ", or "))
	}
	delete(out, "additionalProperties")
}

// alternatives makes branches the alternatives of a schema, each with its type.
func alternatives(out object, branches []object) {
	one := object{}
	for _, b := range branches {
		if b["type"] == nil && b["anyOf"] == nil && out["type"] != nil {
			b = maps.Clone(b)
			b["type"] = out["type"]
			if items, ok := out["items"]; ok && b["items"] == nil {
				b["items"] = items
			}
		}
		addBranches(one, b)
	}
	delete(out, "type")
	delete(out, "items")
	merge(out, flat(one))
}

// addBranches adds an alternative, or those of an alternative, once.
func addBranches(out object, branch any) {
	b, ok := branch.(object)
	if !ok {
		return
	}
	list, _ := out["anyOf"].([]any)
	inner, nested := b["anyOf"].([]any)
	if !nested || len(b) > 1 {
		inner = []any{b}
	}
	for _, one := range inner {
		if !slices.ContainsFunc(list, func(have any) bool { return reflect.DeepEqual(have, one) }) {
			list = append(slices.Clip(list), one)
		}
	}
	out["anyOf"] = list
}

// flat returns a schema of alternatives, or the only alternative.
func flat(s object) object {
	list, _ := s["anyOf"].([]any)
	if len(list) == 1 {
		return objectOf(list[0])
	}
	return s
}

// reference returns the form of a reference's target, with the keywords beside it. That of
// a target in itself is of any content, and so is that of a missing one.
func (m *mender) reference(ref string, in object, depth int) any {
	beside := maps.Clone(in)
	delete(beside, "$ref")
	target, ok := m.find(ref)
	if again := slices.Contains(m.open, ref); !ok || again {
		out, _ := m.object(beside, depth).(object)
		if inner, isObject := target.(object); isObject && out != nil {
			m.types(object{"type": inner["type"]}, out, depth)
			if slices.Contains(typesOf(out), "array") {
				out["items"] = object{}
			}
		}
		if again && out != nil {
			describe(out, "again "+ref[strings.LastIndexByte(ref, '/')+1:])
		}
		return out
	}
	m.open = append(m.open, ref)
	defer func() { m.open = m.open[:len(m.open)-1] }()
	if inner, isObject := target.(object); isObject {
		both := maps.Clone(inner)
		maps.Copy(both, beside)
		return m.schema(both, depth)
	}
	return m.schema(target, depth)
}

// find returns the part of the schema to which a reference points.
func (m *mender) find(ref string) (any, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	var at any = m.root
	for i, step := range strings.Split(path, "/") {
		if i == 0 {
			if step != "" {
				return nil, false
			}
			continue
		}
		if plain, err := url.PathUnescape(step); err == nil {
			step = plain
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch inner := at.(type) {
		case object:
			at, ok = inner[step]
		case []any:
			n, err := strconv.Atoi(step)
			if ok = err == nil && n >= 0 && n < len(inner); ok {
				at = inner[n]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
	}
	return at, true
}

// plainPattern reports whether all providers read a pattern: no look-around, no reference.
func plainPattern(pattern string) bool {
	if strings.Contains(pattern, "(?") || strings.Contains(pattern, `\p`) || strings.Contains(pattern, `\u`) {
		return false
	}
	_, err := regexp.Compile(pattern)
	return err == nil
}
