package vt

import (
	"slices"
	"strings"
)

// style is the attributes in force: for each kind, the parameters that set it.
type style struct {
	attrs []attr
}

type attr struct{ kind, params string }

// String returns the parameters as in a style sequence; "" for the default style.
func (s style) String() string {
	if len(s.attrs) == 0 {
		return ""
	}
	parts := make([]string, len(s.attrs))
	for i, a := range s.attrs {
		parts[i] = a.params
	}
	return strings.Join(parts, ";")
}

// offs maps the parameters that switch an attribute off to its kind.
var offs = map[string][]string{
	"22": {"bold", "faint"}, "23": {"italic"}, "24": {"underline"}, "25": {"blink"}, "27": {"reverse"},
	"28": {"conceal"}, "29": {"strike"}, "39": {"fg"}, "49": {"bg"}, "59": {"ul"},
}

var ons = map[string]string{
	"1": "bold", "2": "faint", "3": "italic", "4": "underline", "5": "blink", "7": "reverse",
	"8": "conceal", "9": "strike", "21": "underline",
}

// set applies the parameters of an SGR sequence; false if it does not know one.
func (s *style) set(args string) bool {
	params := strings.Split(args, ";")
	s.attrs = slices.Clone(s.attrs)
	for i := 0; i < len(params); i++ {
		p := params[i]
		switch {
		case p == "" || p == "0":
			s.attrs = nil
		case offs[p] != nil:
			for _, kind := range offs[p] {
				s.drop(kind)
			}
		case p == "38" || p == "48" || p == "58":
			n := colorLen(params[i:])
			if n == 0 {
				return false
			}
			s.put(map[string]string{"38": "fg", "48": "bg", "58": "ul"}[p], strings.Join(params[i:i+n], ";"))
			i += n - 1
		case !s.simple(p):
			return false
		}
	}
	return true
}

// simple applies a parameter that takes no further ones.
func (s *style) simple(p string) bool {
	head, _, _ := strings.Cut(p, ":")
	switch {
	case ons[head] != "":
		s.put(ons[head], p)
	case head == "38" || len(p) == 2 && (p[0] == '3' || p[0] == '9'):
		s.put("fg", p)
	case head == "48" || len(p) == 2 && p[0] == '4' || len(p) == 3 && strings.HasPrefix(p, "10"):
		s.put("bg", p)
	case head == "58":
		s.put("ul", p)
	default:
		return false
	}
	return true
}

// colorLen returns the number of parameters of an extended color.
func colorLen(params []string) int {
	switch {
	case len(params) >= 5 && params[1] == "2":
		return 5
	case len(params) >= 3 && params[1] == "5":
		return 3
	}
	return 0
}

func (s *style) drop(kind string) {
	s.attrs = slices.DeleteFunc(s.attrs, func(a attr) bool { return a.kind == kind })
}

func (s *style) put(kind, params string) {
	s.drop(kind)
	s.attrs = append(s.attrs, attr{kind, params})
}
