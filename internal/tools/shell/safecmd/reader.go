package safecmd

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bb2d0cf4/agent/internal/programs"
)

// step is a piece of a safe line: an operator of the shell, or a command.
type step struct {
	operator string // such as "&&"; empty for a command
	name     string
	args     []string // after the name, without quotes
	reads    programs.Reads
	in       string   // the file that it reads instead of the standard input; may be empty
	part     int      // of a command: its index in Judgement.Parts
	discard  []string // redirections of its output to nowhere, such as "2>/dev/null"
}

// reader judges the statements of a line strictly: every form that it does not know asks.
type reader struct {
	Judgement

	line    string
	dangers map[syntax.Node]string // why a node is dangerous
}

// statements judges a list: a; b.
func (r *reader) statements(list []*syntax.Stmt) {
	for i, s := range list {
		if i > 0 {
			r.steps = append(r.steps, step{operator: ";"})
		}
		r.statement(s)
	}
}

func (r *reader) statement(s *syntax.Stmt) {
	r.marks(s)
	in, discard := r.redirects(s.Redirs)
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		r.call(cmd, in, discard)
		r.Parts[len(r.Parts)-1].input = in != ""
	case *syntax.BinaryCmd:
		if len(s.Redirs) > 0 || cmd.Op == syntax.PipeAll {
			r.add(r.text(s), Ask, "it joins output in a way that is not judged")
		}
		r.statement(cmd.X)
		r.steps = append(r.steps, step{operator: cmd.Op.String()})
		right := len(r.Parts)
		r.statement(cmd.Y)
		for i := range r.Parts[right:] {
			r.Parts[right+i].Piped = r.Parts[right+i].Piped || cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll
		}
	case nil:
		r.add(r.text(s), Ask, "it has no command")
	default:
		r.construct(cmd)
	}
}

// marks adds a part for a mark around a statement: ! or &.
func (r *reader) marks(s *syntax.Stmt) {
	switch {
	case s.Negated:
		r.add(r.text(s), Ask, "its result is negated")
	case s.Background || s.Coprocess || s.Disown:
		r.add(r.text(s), Ask, "it runs in the background")
	}
}

// redirects returns the redirections that are safe, and adds a part for each other.
func (r *reader) redirects(list []*syntax.Redirect) (in string, discard []string) {
	for i, redirect := range list {
		if to, ok := discards(redirect); ok {
			discard = append(discard, to)
		} else if file, ok := literal(redirect.Word); ok && i == 0 && redirect.Op == syntax.RdrIn && redirect.N == nil {
			in = file
		} else {
			r.redirect(redirect)
		}
	}
	return in, discard
}

// construct adds a part for a construct, and one for each command in it.
func (r *reader) construct(cmd syntax.Command) {
	class, why := Ask, "what it runs depends on more than its words"
	if danger := r.dangers[cmd]; danger != "" {
		class, why = Danger, danger
		delete(r.dangers, cmd)
	}
	r.add(r.text(cmd), class, "%s", why)
	r.Parts[len(r.Parts)-1].Hidden = evaluates(cmd)
	syntax.Walk(cmd, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			r.call(call, "", nil)
		}
		return true
	})
}

// redirect adds a part for a redirection that writes, or reads something unusual.
func (r *reader) redirect(n *syntax.Redirect) {
	class, why := Ask, "it redirects input or output"
	if file, ok := literal(n.Word); ok && !isDocument(n) && n.Op != syntax.WordHdoc {
		why = "it writes to " + file
		if n.Op == syntax.RdrIn {
			why = "it reads " + file + " in a way that is not judged"
		}
	}
	if danger := r.dangers[n]; danger != "" {
		class, why = Danger, danger
		delete(r.dangers, n)
	}
	r.add(r.text(n), class, "%s", why)
	r.Parts[len(r.Parts)-1].Hidden = substitutes(n)
}

// call judges a simple command, and gives its part the words.
func (r *reader) call(c *syntax.CallExpr, in string, discard []string) {
	r.judge(c, in, discard)
	part := &r.Parts[len(r.Parts)-1]
	part.Words = words(c)
	part.Hidden = len(part.Words) == 0 || isIndirect(part.Words)
	if part.Hidden && part.Class == Safe && part.Words[0] == "find" && !slices.Contains(part.Words, "-exec") {
		part.Hidden = false
	}
}

// words returns the words of a command; nil if one of them is not literal, or if the
// command sets variables.
func words(c *syntax.CallExpr) []string {
	if len(c.Assigns) > 0 {
		return nil
	}
	all := make([]string, len(c.Args))
	for i, w := range c.Args {
		var ok bool
		if all[i], ok = literal(w); !ok {
			return nil
		}
	}
	return all
}

// judge adds the part of a simple command.
func (r *reader) judge(c *syntax.CallExpr, in string, discard []string) {
	text := r.text(c)
	if danger := r.dangers[c]; danger != "" {
		delete(r.dangers, c)
		r.add(text, Danger, "%s", danger)
		return
	}
	if len(c.Assigns) > 0 {
		r.add(text, Ask, "it sets a variable, which can change what commands do")
		return
	}
	words := make([]string, len(c.Args))
	for i, w := range c.Args {
		word, ok := literal(w)
		if !ok {
			r.add(text, Ask, "%s is only known when it runs", r.text(w))
			return
		}
		words[i] = word
	}
	name := words[0]
	if !plain(c.Args[0]) {
		r.add(text, Ask, "the name of its program is quoted")
		return
	}
	if strings.Contains(name, "/") {
		r.add(text, Ask, "it names its program by a path")
		return
	}
	p := programs.Find(name)
	if p.Safe == nil {
		r.add(text, Ask, "%s may change files", name)
		return
	}
	uses, why := p.Safe(words[1:])
	if why != "" {
		r.add(text, Ask, "%s: %s", name, why)
		return
	}
	for _, file := range append(uses.Files, in) {
		if special(file) {
			r.add(text, Ask, "%s is not an ordinary file", file)
			return
		}
	}
	if p.Guard != nil && len(words) > 1 && !strings.HasPrefix(words[1], "-") && name != "rg" {
		name += " " + words[1]
	}
	r.add(text, Safe, "%s is read-only", name)
	r.steps = append(r.steps, step{part: len(r.Parts) - 1, name: words[0], args: words[1:], reads: uses, in: in, discard: discard})
}

// special reports whether a path may be a device, a connection or a process.
func special(file string) bool {
	clean := path.Clean(file)
	return slices.ContainsFunc([]string{"/dev", "/proc", "/sys"}, func(dir string) bool {
		return clean != "/dev/null" && (clean == dir || strings.HasPrefix(clean, dir+"/"))
	})
}

// text returns the part of the line that n is.
func (r *reader) text(n syntax.Node) string { return source(r.line, n) }

func source(line string, n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(line) {
		return ""
	}
	return line[from:to]
}

// discards returns a redirection that only drops or joins output: 2>/dev/null, 2>&1.
func discards(n *syntax.Redirect) (string, bool) {
	to, ok := literal(n.Word)
	from := ""
	if n.N != nil {
		from = n.N.Value
	}
	switch {
	case !ok || from != "" && from != "1" && from != "2":
		return "", false
	case (n.Op == syntax.RdrOut || n.Op == syntax.AppOut) && to == "/dev/null":
		return from + ">/dev/null", true
	case n.Op == syntax.DplOut && from == "2" && to == "1":
		return "2>&1", true
	}
	return "", false
}

// plain reports whether a word is written without quotes.
func plain(w *syntax.Word) bool {
	_, ok := w.Parts[0].(*syntax.Lit)
	return ok && len(w.Parts) == 1
}

// literal returns the text of a word that is the same whatever happens: it has no
// expansion, pattern or escape, except escapes in double quotes, of a parenthesis and of ;.
func literal(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", false
	}
	switch s := w.Lit(); s {
	case `\(`, `\)`, `\;`:
		return s[1:], true
	case "!":
		return s, true
	}
	var b strings.Builder
	for _, part := range w.Parts {
		s, ok := "", false
		switch part := part.(type) {
		case *syntax.Lit:
			s, ok = part.Value, unexpanded(strings.ReplaceAll(part.Value, "{}", "")) // as find and xargs have it
		case *syntax.SglQuoted:
			s, ok = part.Value, !part.Dollar
		case *syntax.DblQuoted:
			s, ok = doubleQuoted(part)
		}
		if !ok {
			return "", false
		}
		b.WriteString(s)
	}
	return b.String(), true
}

// unexpanded reports whether text without quotes is literal in every shell.
func unexpanded(s string) bool {
	for i, c := range s {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.ContainsRune("_-./,:=@%+^", c):
		case c >= utf8.RuneSelf && c != utf8.RuneError && !isOddRune(c):
		case c == '~' && i > 0 && s[i-1] != '=' && s[i-1] != ':': // of a revision, as in HEAD~1
		default:
			return false
		}
	}
	return true
}

// doubleQuoted returns the text of a word's part in double quotes, if nothing in it is
// expanded.
func doubleQuoted(q *syntax.DblQuoted) (string, bool) {
	var b strings.Builder
	for _, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok || q.Dollar {
			return "", false
		}
		s := lit.Value
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
				if i++; s[i] == '\n' {
					continue // the line goes on
				}
			}
			b.WriteByte(s[i])
		}
	}
	return b.String(), true
}
