package toolschema

import (
	"maps"
	"slices"
)

// properties takes the properties, and the names of those that are required.
func (m *mender) properties(in, out object, depth int) {
	members, ok := membersOf(in["properties"])
	required := namesOf(in["required"])
	all := object{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		p := m.schema(members[name], depth+1)
		if p == false || name == "" {
			required = slices.DeleteFunc(required, func(r string) bool { return r == name })
			continue
		}
		if objectOf(members[name])["required"] == true { // draft 3
			required = append(required, name)
		}
		all[name] = p
	}
	if _, other := in["properties"]; ok || other || len(required) > 0 && (out["type"] == nil || slices.Contains(typesOf(out), "object")) {
		for _, name := range required {
			if all[name] == nil {
				all[name] = object{}
			}
		}
		out["properties"] = all
		require(out, required)
	}
	m.others(in, out, depth)
}

// membersOf returns the properties of an object, which may be a list of schemas with a name.
func membersOf(properties any) (object, bool) {
	list, ok := properties.([]any)
	if !ok {
		members, ok := properties.(object)
		return members, ok
	}
	named := object{}
	for _, one := range list {
		if name, ok := objectOf(one)["name"].(string); ok {
			p := maps.Clone(objectOf(one))
			delete(p, "name")
			named[name] = p
		}
	}
	return named, true
}

// objectOf returns a value that is an object, else nil.
func objectOf(value any) object {
	s, _ := value.(object)
	return s
}

// others takes the schema of properties that are not listed.
func (m *mender) others(in, out object, depth int) {
	others := in["additionalProperties"]
	if patterns, ok := in["patternProperties"].(object); ok && (others == nil || others == false) {
		others = true
		if len(patterns) == 1 {
			for _, one := range patterns {
				others = one
			}
		}
	}
	if text, ok := others.(string); ok {
		others = text != "false"
	}
	switch others := others.(type) {
	case bool:
		if !others {
			out["additionalProperties"] = false
		}
	case object:
		if s := m.schema(others, depth+1); s == false {
			out["additionalProperties"] = false
		} else if len(objectOf(s)) > 0 {
			out["additionalProperties"] = s
		}
	}
}

func require(out object, names []string) {
	delete(out, "required")
	slices.Sort(names)
	if names = slices.Compact(names); len(names) > 0 {
		list := make([]any, len(names))
		for i, name := range names {
			list[i] = name
		}
		out["required"] = list
	}
}

// namesOf returns the texts of a list, or a text.
func namesOf(value any) (names []string) {
	switch value := value.(type) {
	case string:
		names = []string{value}
	case []any:
		for _, one := range value {
			if name, ok := one.(string); ok && name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}
