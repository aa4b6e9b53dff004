package safecmd

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/programs"
	"github.com/bb2d0cf4/agent/internal/shellline"
)

// Limits of the search for dangers in text that a line runs as a line of its own.
const (
	maxDepth = 4
	maxText  = 4 * shellline.Max // bytes of all such texts, and words of the programs in wrappers
	maxFuncs = 50                // functions of a line, which can be inside of each other

	parseCost = 16 // bytes that one text more counts for
)

// detector finds the dangerous nodes of a line. It expands words as far as it can and
// takes the rest for the worst; it never makes a line safe.
type detector struct {
	line   string
	roots  []string          // folders of the project, absolute
	vars   map[string]string // the values of variables that the line has set so far
	found  map[syntax.Node]string
	depth  int             // of texts and of programs in wrappers
	funcs  int             // functions so far
	more   bool            // the programs get arguments that are only known when the line runs
	judged map[tail]string // by program, of programs in wrappers
	// secrets holds the results of secretWord: each program in a wrapper has the words of the next.
	secrets map[string]string
	sets    func() settings // the variables that the line sets
	left    *int            // bytes of text that may still be parsed, and words that may be examined
}

func newDetector(line string, roots []string) *detector {
	left := maxText
	return &detector{line: line, roots: roots, vars: map[string]string{}, found: map[syntax.Node]string{}, judged: map[tail]string{}, secrets: map[string]string{}, left: &left}
}

// file finds the dangers of a parsed line.
func (d *detector) file(f *syntax.File) {
	d.sets = sync.OnceValue(func() settings {
		all := settings{names: map[string]bool{}}
		syntax.Walk(f, all.add)
		return all
	})
	d.walk(f)
}

// walk finds the dangers in a node.
func (d *detector) walk(in syntax.Node) {
	syntax.Walk(in, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			d.statement(n)
		case *syntax.CallExpr:
			d.mark(n, d.call(n))
		case *syntax.DeclClause:
			for _, a := range n.Args {
				d.mark(n, d.assign(a))
			}
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				d.pipe(n.Y)
			}
		case *syntax.ForClause:
			return !d.loop(n)
		case *syntax.FuncDecl:
			d.function(n)
		case *syntax.Redirect:
			d.mark(n, d.redirect(n))
		case *syntax.ParamExp:
			if n.Param != nil && n.Param.Value == "IFS" {
				d.mark(n, "it hides blanks")
			}
		}
		return true
	})
}

// loop finds the dangers in a loop over words that are known, for each of them, and reports whether they
// are.
func (d *detector) loop(n *syntax.ForClause) bool {
	over, ok := n.Loop.(*syntax.WordIter)
	if !ok || n.Select || !over.InPos.IsValid() {
		return false
	}
	var values []string
	for _, w := range over.Items {
		values = append(values, d.words(w)...)
	}
	cost := len(values) * (parseCost + len(source(d.line, n)))
	if slices.ContainsFunc(values, unknown) || cost > *d.left {
		return false
	}
	*d.left -= cost
	for _, w := range over.Items {
		d.walk(w)
	}
	for _, value := range values {
		d.vars[over.Name.Value] = value
		for _, s := range n.Do {
			d.walk(s)
		}
	}
	delete(d.vars, over.Name.Value) // with a break, it is any of them
	return true
}

func (d *detector) mark(n syntax.Node, why string) {
	if why != "" && d.found[n] == "" {
		d.found[n] = why
	}
}

// rest returns parts for the dangers that nobody has taken out of found, in their order.
func (d *detector) rest() []Part {
	nodes := make([]syntax.Node, 0, len(d.found))
	for n := range d.found {
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b syntax.Node) int {
		return cmp.Or(cmp.Compare(a.Pos().Offset(), b.Pos().Offset()), cmp.Compare(a.End().Offset(), b.End().Offset()))
	})
	var parts []Part
	for _, n := range nodes {
		parts = append(parts, Part{Text: source(d.line, n), Class: Danger, Reason: d.found[n]})
	}
	return parts
}

// statement judges the input that a shell gets by a redirection, and output that empties
// a file.
func (d *detector) statement(s *syntax.Stmt) {
	silent := sync.OnceValue(func() bool { return d.silent(s.Cmd) }) // a command can have hundreds of redirections
	runs := sync.OnceValue(func() []string { return d.inputRunners(s.Cmd) })
	for _, n := range s.Redirs {
		if writes(n) && n.Word.Lit() != "/dev/null" && silent() {
			d.mark(n, "it empties the file")
		}
		switch n.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			d.mark(n, d.input(runs(), d.document(n.Hdoc)))
		case syntax.WordHdoc:
			d.mark(n, d.input(runs(), d.join(n.Word)))
		}
	}
}

// input returns why text that some interpreters run is dangerous, or "".
func (d *detector) input(interpreters []string, text string) string {
	for _, name := range interpreters {
		judge := d.script
		if !languageOf(name).Shell && !unknown(text) && !outside(text) {
			judge = d.code
		}
		if why := judge(text); why != "" {
			return why
		}
	}
	return ""
}

// inputRunners returns the interpreters in a command that run the text which it reads, each once.
func (d *detector) inputRunners(cmd syntax.Command) (names []string) {
	if cmd == nil {
		return nil
	}
	syntax.Walk(cmd, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			if args := d.args(call); runsInput(args) && !slices.Contains(names, interpreter(args)) {
				names = append(names, interpreter(args))
			}
		}
		return true
	})
	return names
}

// writes reports whether a redirection replaces the content of a file.
func writes(n *syntax.Redirect) bool {
	switch n.Op {
	case syntax.RdrOut, syntax.RdrClob, syntax.RdrAll, syntax.RdrAllClob:
		return true
	}
	return false
}

// silentCommands print nothing, by their last path element, beside those that never print.
var silentCommands = []string{"", "echo -n", "printf ", "null", "bin"}

// silent reports whether a command prints nothing, so that a file it writes to is empty.
func (d *detector) silent(cmd syntax.Command) bool {
	loud := false
	if cmd != nil {
		syntax.Walk(cmd, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				args := d.args(call)
				for len(args) > 0 && (isWrapper(args[0]) || args[0] != "" && strings.Trim(args[0], "0123456789") == "" || strings.HasPrefix(args[0], "-") || strings.Contains(args[0], "=")) {
					args = args[1:]
				}
				command := path.Base(strings.Join(args, " "))
				loud = loud || !slices.Contains(silentCommands, command) && !is(command, programs.Silent)
			}
			return !loud
		})
	}
	return !loud
}

// pipe marks the programs behind a pipe that run its text.
func (d *detector) pipe(s *syntax.Stmt) {
	if next, ok := s.Cmd.(*syntax.BinaryCmd); ok && len(s.Redirs) == 0 {
		s = next.X // its other side gets its own look
	}
	syntax.Walk(s, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		if args := d.args(call); len(args) > 0 && (args[0] == "source" || args[0] == "." || runsInput(args)) {
			d.mark(call, "it runs what comes through the pipe")
		}
		return true
	})
}

// function marks a function that starts itself again.
func (d *detector) function(f *syntax.FuncDecl) {
	switch d.funcs++; {
	case d.funcs == maxFuncs:
		d.mark(f, "it has more functions than are judged")
		return
	case d.funcs > maxFuncs || f.Name == nil:
		return
	}
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 && slices.Contains(d.args(call), path.Base(f.Name.Value)) {
			d.mark(f, "its function starts itself again and again")
		}
		return true
	})
}

// redirect judges where output goes to and input comes from.
func (d *detector) redirect(n *syntax.Redirect) string {
	if n.Word == nil || n.Op == syntax.Hdoc || n.Op == syntax.DashHdoc || n.Op == syntax.WordHdoc || n.Op == syntax.DplIn {
		return ""
	}
	to := d.join(n.Word)
	if n.Op == syntax.RdrIn {
		return secretWord(to)
	}
	if n.Op == syntax.DplOut && strings.Trim(to, "0123456789-") == "" {
		return ""
	}
	if unknown(to) {
		return "it writes to a file that is only known when it runs"
	}
	return target(d.local(to))
}

// target returns why writing to a path is dangerous, or "".
func target(to string) string {
	clean := path.Clean(to)
	for _, harmless := range []string{"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"} {
		if clean == harmless {
			return ""
		}
	}
	switch {
	case strings.HasPrefix(clean, "/tmp/"):
		return ""
	case path.IsAbs(clean), strings.HasPrefix(clean, "~"), clean == "..", strings.HasPrefix(clean, "../"):
		return "it writes outside of the folder, to " + to
	case strings.HasPrefix(clean, ".git/"), strings.Contains(clean, "/.git/"):
		return "it writes to git's own files"
	}
	return secretWord(to)
}

// assign notes the value of a variable, and judges it: programs run the values of some.
func (d *detector) assign(a *syntax.Assign) string {
	if a.Name == nil || a.Value == nil {
		return ""
	}
	value := d.join(a.Value)
	if a.Append {
		value = d.vars[a.Name.Value] + value
	}
	if len(value) > maxValue {
		value = unknownText
	}
	d.vars[a.Name.Value] = value
	if why := secretWord(value); why != "" {
		return why
	}
	if strings.ContainsAny(value, " \t\n") && !unknown(value) {
		return d.nested(value)
	}
	return ""
}

// call returns why a simple command is dangerous, or "".
func (d *detector) call(c *syntax.CallExpr) string {
	for _, a := range c.Assigns {
		if why := d.assign(a); why != "" {
			return why
		}
	}
	args := d.args(c)
	switch {
	case len(args) == 0:
		return ""
	case d.hides(c.Args[0]):
		return hidesName
	case isPrefix(args[0]) && d.hidesLater(c.Args[1:]):
		return hidesName
	}
	return d.program(args)
}

const hidesName = "it hides the name of its program"

// hidesLater is hides for the words after a program that starts the one they name.
func (d *detector) hidesLater(words []*syntax.Word) bool {
	for _, w := range words {
		text, ok := literal(w)
		if lit := w.Lit(); path.Base(lit) == "!" { // also with a folder
			text, ok = lit, true
		}
		if hidden := d.hides(w); hidden || !ok || !programs.IsNumber(text) && !strings.HasPrefix(text, "-") && !strings.Contains(text, "=") && !isPrefix(text) {
			return hidden && !strings.Contains(w.Lit(), "=")
		}
	}
	return false
}

// hides reports whether a word disguises the name of a program.
func (d *detector) hides(w *syntax.Word) bool {
	if name, ok := literal(w); ok {
		return len(w.Parts) > 1 || strings.ContainsAny(name, " \t")
	}
	text := d.join(w)
	if outside(text) && !unknown(text) || atHome.MatchString(text) {
		return false
	}
	lit := w.Lit()
	return lit == "" || strings.ContainsAny(lit, "\\*?{~") || strings.Contains(lit, "[") && lit != "[" && lit != "[["
}

// atHome matches a plain path below somebody's home.
var atHome = lazyregexp.New(`^~[\w.-]*(/[\w.@+-]+)*$`)

// script is nested for text that a shell certainly runs.
func (d *detector) script(text string) string {
	if unknown(text) || outside(text) {
		return runsUnknown
	}
	return d.inner(text, func(error) string { return "it runs text that is not valid shell" })
}

// nested returns why text that may be run as a line of its own is dangerous, or "".
func (d *detector) nested(text string) string {
	return d.inner(text, func(err error) string {
		if errors.As(err, new(shellline.UnparsedError)) {
			return tooDeep
		}
		return d.roughly(text)
	})
}

const tooDeep = "it runs text inside of text that is too deep to be judged"

// inner returns why text is dangerous as a line of its own; invalid decides about text that is not valid.
func (d *detector) inner(text string, invalid func(error) string) string {
	if *d.left -= parseCost + len(text); d.depth >= maxDepth || *d.left < 0 {
		return tooDeep
	}
	file, err := shellline.Parse(text)
	if err != nil {
		return invalid(err)
	}
	inner := &detector{line: text, roots: d.roots, vars: d.vars, found: map[syntax.Node]string{}, depth: d.depth + 1, judged: d.judged, secrets: d.secrets, left: d.left}
	inner.file(file)
	if parts := inner.rest(); len(parts) > 0 {
		return parts[0].Reason
	}
	return ""
}

// roughly judges text that is not valid shell, by its words.
func (d *detector) roughly(text string) string {
	for _, command := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(";|&()\n\r", r) }) {
		words := strings.Fields(strings.NewReplacer(`"`, "", `'`, "", `\`, "", "`", " ", "$", "\x00").Replace(command))
		for i := range min(len(words), 8) {
			if why := d.program(words[i:]); why != "" {
				return why
			}
		}
	}
	return ""
}
