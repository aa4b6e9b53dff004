package safecmd

import (
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/bb2d0cf4/agent/internal/programs"
)

const unknownText = programs.Unknown

func unknown(s string) bool { return programs.IsUnknown(s) }

// outsideText takes the place of text from outside of a line: of a variable that it does not set, which
// only the person's environment does, or of a folder that a known program prints.
const outsideText = programs.Outside

func outside(s string) bool { return strings.Contains(s, outsideText) }

// maxBraces is the number of braces in a word that are expanded.
const maxBraces = 8

// maxWords is the number of words to which braces are expanded.
const maxWords = 64

// maxValue is the length in bytes up to which the value of a variable is kept.
const maxValue = 1 << 10

// args returns the words of a call as far as they are known.
func (d *detector) args(c *syntax.CallExpr) []string {
	var out []string
	for _, w := range c.Args {
		out = append(out, d.words(w)...)
	}
	return out
}

// words expands a word: it may become several.
func (d *detector) words(w *syntax.Word) []string {
	var out []string
	split := *w
	split.Parts = append([]syntax.WordPart(nil), w.Parts...)
	if !syntax.SplitBraces(&split) {
		return d.fields(w)
	}
	if strings.Count(source(d.line, w), "{") > maxBraces {
		return []string{unknownText}
	}
	for part, err := range expand.BracesSeq(nil, &split) {
		if err != nil || len(out) >= maxWords {
			return append(out, unknownText)
		}
		out = append(out, d.fields(part)...)
	}
	return out
}

// join returns a word as one text.
func (d *detector) join(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	return strings.Join(d.words(w), " ")
}

// document returns the text of a here-document.
func (d *detector) document(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(part.Value)
		case *syntax.ParamExp:
			b.WriteString(d.value(part))
		default:
			b.WriteString(unknownText)
		}
	}
	return b.String()
}

// fields expands a word without braces.
func (d *detector) fields(w *syntax.Word) []string {
	fields, open := []string{}, false
	add := func(s string) {
		if !open {
			fields, open = append(fields, ""), true
		}
		fields[len(fields)-1] += s
	}
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			add(unescape(part.Value))
		case *syntax.SglQuoted:
			s := part.Value
			if part.Dollar {
				s = ansiC(s)
			}
			add(s)
		case *syntax.DblQuoted:
			add(d.quoted(part))
		case *syntax.ParamExp:
			value := d.value(part)
			for i, s := range strings.FieldsFunc(value, isBlank) {
				open = open && i == 0 && !isBlank(rune(value[0]))
				add(s)
			}
			if value != "" && isBlank(rune(value[len(value)-1])) {
				open = false
			}
		default:
			add(d.substituted(part))
		}
	}
	return fields
}

// substituted returns the text for a part of a word that is a command, or computes.
func (d *detector) substituted(part syntax.WordPart) string {
	sub, ok := part.(*syntax.CmdSubst)
	if !ok || len(sub.Stmts) != 1 || len(sub.Stmts[0].Redirs) > 0 {
		return unknownText
	}
	call, ok := sub.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return unknownText
	}
	if all := words(call); len(all) > 0 && programs.Find(all[0]).Place.MatchString(strings.Join(all[1:], " ")) {
		return outsideText
	}
	return unknownText
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }

// quoted expands text in double quotes.
func (d *detector) quoted(q *syntax.DblQuoted) string {
	var b strings.Builder
	for _, part := range q.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			one := syntax.DblQuoted{Parts: []syntax.WordPart{part}}
			s, _ := doubleQuoted(&one)
			b.WriteString(s)
		case *syntax.ParamExp:
			b.WriteString(d.value(part))
		default:
			b.WriteString(d.substituted(part))
		}
	}
	return b.String()
}

// value returns the value of a variable.
func (d *detector) value(p *syntax.ParamExp) string {
	if p.Param == nil || p.Param.Value == "IFS" {
		return " "
	}
	if isComputed(p) {
		return unknownText
	}
	name := p.Param.Value
	if value, ok := d.vars[name]; ok {
		return value
	}
	switch name {
	case "HOME":
		return "~"
	case "PWD":
		return "."
	}
	if d.depth > 0 || d.sets().has(name) {
		return unknownText
	}
	return outsideText
}

// isComputed reports whether p is more than the value of a variable.
func isComputed(p *syntax.ParamExp) bool {
	return p.Length || p.Excl || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Exp != nil || p.Names != 0
}

// settings are the variables that a line sets.
type settings struct {
	names map[string]bool
	any   bool // also others
}

func (s settings) has(name string) bool {
	positional := !syntax.ValidName(name)
	return s.any || s.names[name] || positional && s.names["@"]
}

// add notes the variables that a node sets.
func (s *settings) add(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name == nil {
			s.any = true
		} else {
			s.names[n.Name.Value] = true
		}
	case *syntax.WordIter:
		s.names[n.Name.Value] = true
	case *syntax.FuncDecl:
		s.names["@"] = true
	case *syntax.Redirect:
		s.any = s.any || n.N != nil && strings.HasPrefix(n.N.Value, "{")
	case *syntax.ParamExp:
		if assigns(n) {
			s.names[n.Param.Value] = true
		}
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop, *syntax.CoprocClause:
		s.any = true
	case *syntax.CallExpr:
		s.addCall(n.Args)
	}
	return true
}

// assigns reports whether p has the form ${X:=value}.
func assigns(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Exp != nil && (p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull)
}

// addCall notes the variables that a simple command sets.
func (s *settings) addCall(args []*syntax.Word) {
	for i, w := range args { // wherever the name of a program is
		text := w.Lit()
		if text == "" {
			text, _ = literal(w) // it is quoted
		}
		if text == "" {
			continue
		}
		word := path.Base(text)
		does := programs.Find(word).Is
		if i == 0 || word != "." {
			s.any = s.any || does.Has(programs.Starts|programs.Moves) // such as eval and source
			s.names["OLDPWD"] = s.names["OLDPWD"] || does.Has(programs.Enters)
			s.names["@"] = s.names["@"] || does.Has(programs.Moves)
		}
		s.any = s.any || does.Has(programs.Sets) && setsUnknown(args[i:])
		for _, w := range []string{text, word} {
			name, _, _ := strings.Cut(w, "=")
			s.names[path.Base(name)] = true // read X, printf -v X, env X=/y
		}
	}
}

// unescape removes backslashes, and newlines after them, from text without quotes.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansiC decodes the text between $' and '.
func ansiC(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 >= len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		text, n := ansiCEscape(s[i+1:])
		b.WriteString(text)
		i += 1 + n
	}
	return b.String()
}

// ansiCEscape decodes an escape after its backslash, and returns its length.
func ansiCEscape(s string) (string, int) {
	switch c := s[0]; {
	case '0' <= c && c <= '7':
		return ansiCNumber(s, 0, 3, 8)
	case c == 'x':
		return ansiCNumber(s, 1, 2, 16)
	case c == 'u':
		return ansiCNumber(s, 1, 4, 16)
	case c == 'U':
		return ansiCNumber(s, 1, 8, 16)
	case strings.IndexByte("nrtvfab", c) >= 0:
		return " ", 1
	case strings.IndexByte("ceE", c) >= 0:
		return unknownText, 1
	}
	return s[:1], 1
}

// ansiCNumber decodes a number of at most so many digits.
func ansiCNumber(s string, from, most, base int) (string, int) {
	to := from
	for to < len(s) && to-from < most {
		if _, err := strconv.ParseUint(s[to:to+1], base, 8); err != nil {
			break
		}
		to++
	}
	n, err := strconv.ParseUint(s[from:to], base, 32)
	switch {
	case err != nil:
		return unknownText, max(to, 1)
	case base == 8 || s[0] == 'x':
		return string([]byte{byte(n)}), to
	}
	return string(utf8.AppendRune(nil, rune(n))), to
}

// setsUnknown reports whether a command that sets the variables which its arguments name may set any;
// printf sets one only with an option.
func setsUnknown(command []*syntax.Word) bool {
	if len(command) < 2 || words(&syntax.CallExpr{Args: command}) != nil {
		return false
	}
	format, known := literal(command[1])
	name, _ := literal(command[0])
	return name != "printf" || !known || strings.HasPrefix(format, "-")
}
