package footprint

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Bounds of a line that is interpreted; of another, anything may be run.
const (
	maxLine    = 64 << 10
	maxOpen    = 200 // brackets that are open at once
	maxNested  = 4   // lines within lines
	maxChoices = 32  // values of a word with variables
)

// reading interprets a line of the shell. It collects its words as the shell passes them on, and
// how far their programs reach.
type reading struct {
	env    func(name string) string
	inside func(word string) bool // see collector.inside
	vars   map[string][]*syntax.Word
	vague  map[string]bool // variables with values that are not known
	funcs  map[string]bool
	depth  int

	words    []string
	commands [][]string      // simple commands, as far as they are known
	code     map[string]bool // words that may name what is run
	data     map[string]bool // words that are only read
	output   map[string]bool // words that are only written
	writes   bool            // it may make a file that it runs then
	reach    Reach
	why      string // of reach
	err      error
}

func newReading(env func(string) string, inside func(string) bool) *reading {
	return &reading{
		env: env, inside: inside, vars: map[string][]*syntax.Word{}, vague: map[string]bool{}, funcs: map[string]bool{},
		code: map[string]bool{}, data: map[string]bool{}, output: map[string]bool{},
	}
}

// reaches notes that a program reaches as far as r.
func (a *reading) reaches(r Reach, program string) {
	if r > a.reach {
		a.reach, a.why = r, program
	}
}

// fail notes that the line does not tell what it runs.
func (a *reading) fail(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf("%w: %s", ErrUnpredictable, fmt.Sprintf(format, args...))
	}
}

// word is a word after the shell's expansions.
type word struct {
	text  string
	known bool
}

// line interprets a line.
func (a *reading) line(text string) {
	if a.depth++; a.depth > maxNested {
		a.fail("its lines are nested too deeply")
	}
	defer func() { a.depth-- }()
	if a.err != nil {
		return
	}
	file, err := parse(text)
	if err != nil {
		a.fail("its line cannot be read")
		return
	}
	syntax.Walk(file, a.define)
	calls := a.calls(file)
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			a.call(n, calls[n])
		case *syntax.Redirect:
			a.redirect(n)
		case *syntax.Assign:
			a.assign(n)
		}
		return true
	})
}

// parse parses a line of bash that is not too long to be parsed in time.
func parse(text string) (*syntax.File, error) {
	open, most := 0, 0
	for _, c := range []byte(text) {
		switch c {
		case '(', '[', '{':
			open++
		case ')', ']', '}':
			open = max(open-1, 0)
		}
		most = max(most, open)
	}
	if len(text) > maxLine || most > maxOpen {
		return nil, ErrUnpredictable
	}
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
}

// define notes the functions and variables that a line sets.
func (a *reading) define(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.FuncDecl:
		if n.Name != nil {
			a.funcs[n.Name.Value] = true
		}
	case *syntax.Assign:
		switch {
		case n.Name == nil:
		case n.Value == nil || n.Append || n.Index != nil || n.Array != nil:
			a.vague[n.Name.Value] = a.vague[n.Name.Value] || n.Array != nil || n.Append || n.Index != nil
		default:
			a.vars[n.Name.Value] = append(a.vars[n.Name.Value], n.Value)
		}
	case *syntax.ForClause:
		if loop, ok := n.Loop.(*syntax.WordIter); ok && loop.Name != nil {
			a.vars[loop.Name.Value] = append(a.vars[loop.Name.Value], loop.Items...)
			a.vague[loop.Name.Value] = a.vague[loop.Name.Value] || len(loop.Items) == 0
		}
	case *syntax.CallExpr:
		if len(n.Args) > 0 && slices.Contains([]string{"read", "mapfile", "readarray", "getopts", "printf", "unset"}, n.Args[0].Lit()) {
			for _, w := range n.Args[1:] {
				a.vague[w.Lit()] = true
			}
		}
	}
	return true
}

// source is the place from which a command reads its input.
type source struct {
	from *syntax.Stmt     // the command before the pipe
	file *syntax.Redirect // or a file, or a text in the line
}

// calls returns the sources of the simple commands that have one.
func (a *reading) calls(file *syntax.File) map[*syntax.CallExpr]source {
	out := map[*syntax.CallExpr]source{}
	feed := func(n syntax.Node, s source) {
		syntax.Walk(n, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok {
				out[c] = s
			}
			return true
		})
	}
	syntax.Walk(file, func(n syntax.Node) bool { // from the outside to the inside: the nearest counts
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				feed(n.Y, source{from: n.X})
			}
		case *syntax.Stmt:
			for _, r := range n.Redirs {
				switch r.Op {
				case syntax.RdrIn, syntax.RdrInOut, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.DplIn:
					if n.Cmd != nil {
						feed(n.Cmd, source{file: r})
					}
				}
			}
		}
		return true
	})
	return out
}

// expand returns the words that a word may become.
func (a *reading) expand(w *syntax.Word) []word {
	choices, ok := a.choices(w, 0)
	if !ok {
		return []word{{text: "?"}}
	}
	var out []word
	for _, env := range choices {
		fields, err := expand.Fields(&expand.Config{Env: expand.FuncEnviron(env), NoUnset: true}, w)
		if err != nil {
			return append(out, word{text: "?"})
		}
		for _, f := range fields {
			out = append(out, word{f, true})
		}
	}
	return out
}

// choices returns the environments in which a word has all of its values. It returns false if
// they are not known.
func (a *reading) choices(w *syntax.Word, depth int) (all []func(string) string, known bool) {
	all, known = []func(string) string{a.env}, true
	set := map[string]bool{}
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp, *syntax.ExtGlob:
			known = false
		case *syntax.ParamExp:
			if n.Param == nil || a.vague[n.Param.Value] || n.Excl {
				known = false
				return false
			}
			name := n.Param.Value
			if set[name] {
				return true
			}
			set[name] = true
			values, ok := a.values(name, depth)
			if len(values) == 0 && n.Exp == nil {
				ok = false
			}
			if known = known && ok; known && len(values) > 0 {
				all = with(all, name, values)
				known = len(all) <= maxChoices
			}
		}
		return known
	})
	return all, known
}

// with returns the environments with each of the values of a variable.
func with(all []func(string) string, name string, values []string) (out []func(string) string) {
	for _, env := range all {
		for _, value := range values {
			out = append(out, func(n string) string {
				if n == name {
					return value
				}
				return env(n)
			})
		}
	}
	return out
}

// values returns the values that a variable may have; false if they are not known.
func (a *reading) values(name string, depth int) (out []string, ok bool) {
	if depth > maxNested {
		return nil, false
	}
	if v := a.env(name); v != "" {
		out = append(out, v)
	}
	for _, w := range a.vars[name] {
		choices, ok := a.choices(w, depth+1)
		if !ok {
			return nil, false
		}
		for _, env := range choices {
			fields, err := expand.Fields(&expand.Config{Env: expand.FuncEnviron(env), NoUnset: true}, w)
			if err != nil {
				return nil, false
			}
			if v := strings.Join(fields, " "); !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	return out, len(out) <= maxChoices
}

// redirect notes files that are only read or written.
func (a *reading) redirect(r *syntax.Redirect) {
	kind := a.output
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.DplIn, syntax.DplOut:
		return
	case syntax.RdrIn:
		kind = a.data
	}
	for _, w := range a.expand(r.Word) {
		if !w.known {
			a.writes = a.writes || r.Op != syntax.RdrIn
		} else if !strings.HasPrefix(w.text, "/dev/") {
			a.words = append(a.words, w.text)
			kind[w.text] = true
		}
	}
}

// ignores reports whether a word names only files that are read or written, not run.
func (a *reading) ignores(w string) bool {
	return a.err == nil && !a.code[w] && (a.output[w] || a.data[w] && !a.makes())
}

// makes reports whether the line may make a file that it runs then.
func (a *reading) makes() bool {
	for out := range a.output {
		for code := range a.code {
			if within(filepath.Clean(out), filepath.Clean(code)) {
				return true
			}
		}
	}
	return a.writes
}

// assign notes a value, and a variable by which programs are told what to run.
func (a *reading) assign(n *syntax.Assign) {
	if n.Name == nil {
		return
	}
	if steers(n.Name.Value) {
		a.reaches(Anything, n.Name.Value+"=")
	}
	if n.Value == nil {
		return
	}
	for _, w := range a.expand(n.Value) {
		if w.known {
			a.words = append(a.words, w.text)
			a.data[w.text] = true
		}
	}
}

// call interprets a simple command.
func (a *reading) call(c *syntax.CallExpr, in source) {
	var words []word
	for _, w := range c.Args {
		words = append(words, a.expand(w)...)
	}
	var known []string
	for _, w := range words {
		if w.known {
			a.words = append(a.words, w.text)
		}
		known = append(known, w.text)
	}
	a.commands = append(a.commands, known)
	a.command(words, in)
}

// isCode notes that words may name what is run.
func (a *reading) isCode(words []word) {
	for _, w := range words {
		if w.known {
			a.code[w.text] = true
		}
	}
}

// command interprets the words of a command.
func (a *reading) command(words []word, in source) {
	if len(words) == 0 {
		return
	}
	if !words[0].known {
		a.fail("its program is known only when it runs")
		return
	}
	a.isCode(words[:1])
	name := strings.TrimSuffix(path.Base(words[0].text), ".exe")
	args := words[1:]
	switch {
	case a.funcs[words[0].text]: // its body is interpreted where it is defined
		a.isCode(args)
	case name == "eval" || name == "trap":
		a.text(name, args)
	case name == "." || name == "source":
		a.isCode(args)
		a.script(name, args)
	case slices.Contains(shells, name):
		a.shell(name, args, in)
	case wrapperOptions[name] != "":
		a.wrapped(name, args, in)
	case slices.Contains(feeders[name], firstOf(args, feeders[name])):
		a.each(args[slices.IndexFunc(args, func(w word) bool { return slices.Contains(feeders[name], w.text) })+1:])
	case launches(name, args):
		a.isCode(args)
		a.launched(args[1:], in)
	case slices.Contains(runners, name):
		a.isCode(args)
		a.launched(args, in)
	default:
		a.program(name, words, in)
	}
}

func firstOf(words []word, of []string) string {
	for _, w := range words {
		if slices.Contains(of, w.text) {
			return w.text
		}
	}
	return "\x00"
}

// text interprets words that are a line of their own.
func (a *reading) text(name string, args []word) {
	a.isCode(args)
	var all []string
	for _, w := range args {
		if !w.known {
			a.fail("%s runs a text that is known only when it runs", name)
			return
		}
		all = append(all, w.text)
	}
	if name == "trap" && len(all) > 0 {
		all = all[:1]
	}
	a.line(strings.Join(all, " "))
}

// script notes that the first of some words is a file to run.
func (a *reading) script(name string, args []word) {
	if len(args) > 0 && !args[0].known {
		a.fail("the file that %s runs is known only when it runs", name)
	}
}

// shell interprets the arguments of a shell.
func (a *reading) shell(name string, args []word, in source) {
	for i := 0; i < len(args); i++ {
		arg := args[i].text
		switch {
		case !args[i].known:
			a.fail("the file that %s runs is known only when it runs", name)
			return
		case arg == "-s" || arg == "-":
			a.isCode(args)
			a.input(name, in, true)
			return
		case arg == "-o" || arg == "+o" || arg == "-O" || arg == "+O":
			i++
		case strings.HasPrefix(arg, "--") && (strings.Contains(arg, "rc") || strings.Contains(arg, "init")):
			a.isCode(args)
			a.reaches(Anything, name)
		case len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.Contains(arg, "c"):
			a.isCode(args)
			if i+1 >= len(args) || !args[i+1].known {
				a.fail("%s runs a text that is known only when it runs", name)
				return
			}
			a.line(args[i+1].text)
			return
		case strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "+"):
			if strings.ContainsAny(arg, "il") { // it reads its start-up files
				a.reaches(Anything, name)
			}
		default:
			a.isCode(args[i : i+1])
			return
		}
	}
	a.input(name, in, true)
}

// input interprets the input that a program runs.
func (a *reading) input(name string, in source, isShell bool) {
	var text string
	switch {
	case in.file != nil && (in.file.Op == syntax.RdrIn || in.file.Op == syntax.RdrInOut):
		words := a.expand(in.file.Word)
		a.isCode(words)
		a.script(name, words)
		return
	case in.file != nil && in.file.Op == syntax.WordHdoc:
		for _, w := range a.expand(in.file.Word) {
			if !w.known {
				a.fail("%s runs a text that is known only when it runs", name)
			}
			text += w.text + " "
		}
	case in.file != nil && in.file.Hdoc != nil:
		var b strings.Builder
		for _, part := range in.file.Hdoc.Parts {
			lit, ok := part.(*syntax.Lit)
			if !ok {
				a.fail("%s runs a text that is known only when it runs", name)
				return
			}
			b.WriteString(lit.Value)
		}
		text = b.String()
	case in.from != nil && a.prints(in.from):
		return
	default:
		a.fail("%s runs what it reads", name)
		return
	}
	if isShell {
		a.line(text)
		return
	}
	a.reaches(Anything, name)
}

// prints reports whether a command prints only files that it names, and notes these as code.
func (a *reading) prints(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	var words []word
	for _, w := range call.Args {
		words = append(words, a.expand(w)...)
	}
	known := !slices.ContainsFunc(words, func(w word) bool { return !w.known })
	switch {
	case !known:
		return false
	case words[0].text == "echo" || words[0].text == "printf":
		a.reaches(Anything, words[0].text)
	case words[0].text != "cat":
		return false
	}
	a.isCode(words[1:])
	return true
}

// wrapped interprets the arguments of a program that starts the one they name.
func (a *reading) wrapped(name string, args []word, in source) {
	valued := wrapperOptions[name]
	for i := 0; i < len(args); i++ {
		arg := args[i].text
		switch {
		case !args[i].known:
			a.fail("the program that %s starts is known only when it runs", name)
			return
		case arg == "--" || arg == "":
		case name == "env" && (strings.HasPrefix(arg, "-S") || strings.HasPrefix(arg, "--sp")):
			a.isCode(args)
			a.fail("%s splits a text", name)
			return
		case strings.HasPrefix(arg, "-"):
			if last := arg[len(arg)-1:]; !strings.HasPrefix(arg, "--") && len(arg) == 2 && strings.Contains(valued, last) {
				i++
			}
		case assigns(arg):
			key, _, _ := strings.Cut(arg, "=")
			if a.isCode(args[i : i+1]); steers(key) {
				a.reaches(Anything, key+"=")
			}
		case isNumber(arg) && name != "env":
		default:
			if name == "xargs" {
				a.each(args[i:])
			} else {
				a.command(args[i:], in)
			}
			return
		}
	}
}

func assigns(arg string) bool {
	key, _, ok := strings.Cut(arg, "=")
	return ok && key != "" && !strings.ContainsAny(key, "/ -.")
}

// isNumber reports whether an argument is a number, which may have a unit, as the time of timeout.
func isNumber(arg string) bool {
	return arg[:1] >= "0" && arg[:1] <= "9" && strings.Trim(arg, "0123456789.smhdx") == ""
}

// each interprets a command that gets more words when it runs.
func (a *reading) each(words []word) {
	words = slices.Clone(words)
	for i, w := range words {
		if strings.Contains(w.text, "{}") {
			words[i] = word{text: "?"}
		}
	}
	a.command(append(words, word{text: "?"}), source{})
}

// launched interprets the arguments of a program that starts an installed program, of the
// project if it has one of that name.
func (a *reading) launched(args []word, in source) {
	for i, w := range args {
		if !w.known {
			a.fail("its program is known only when it runs")
			return
		}
		if strings.HasPrefix(w.text, "-") {
			if w.text == "-c" || strings.HasPrefix(w.text, "--c") {
				a.reaches(Anything, w.text)
			}
			continue
		}
		name := path.Base(w.text)
		if slices.Contains(plain, name) || manifests[name] != nil || languageOf(name) != nil || slices.Contains(shells, name) || reachOf(name, args[i+1:]) > Named || a.inside(w.text) {
			a.command(args[i:], in)
		}
		return
	}
}

// program interprets a command that starts no other as its words show.
func (a *reading) program(name string, words []word, in source) {
	args := words[1:]
	if languageOf(name) != nil {
		a.interpreter(name, args, in)
		return
	}
	reach := reachOf(name, args)
	switch {
	case reach > Named:
		a.reaches(reach, name)
	case slices.Contains(plain, name):
		kind := a.data
		if name == "touch" || name == "tee" {
			kind = a.output
		}
		for _, w := range args {
			if w.known {
				kind[w.text] = true
			}
		}
		a.writes = a.writes || slices.Contains(copiers, name)
		return
	case slices.Contains(exact, name), manifests[name] != nil, a.inside(words[0].text):
	default:
		a.reaches(Anything, name)
	}
	a.isCode(args)
	unknown := slices.IndexFunc(args, func(w word) bool { return !w.known })
	if unknown == 0 || unknown > 0 && manifests[name] != nil && name != "git" {
		a.reaches(Anything, name)
	}
	if slices.Contains(awks, name) && slices.ContainsFunc(args, func(w word) bool {
		return !w.known || strings.Contains(w.text, "system") || strings.Contains(w.text, "|")
	}) {
		a.reaches(Anything, name)
	}
}

// interpreter interprets the arguments of a program that runs code.
func (a *reading) interpreter(name string, args []word, in source) {
	lang, rest := languageOf(name), 0
	texts := make([]string, len(args))
	for i, w := range args {
		if texts[i] = w.text; !w.known {
			texts[i] = "?"
		}
	}
	reach := reachOf(name, args)
	a.reaches(reach, name)
	s := lang.start(texts)
	switch {
	case s.code:
		a.isCode(args)
		a.reaches(Anything, name)
		return
	case lang.loose || reach > Named:
		a.isCode(args)
		return
	case s.mod != "":
		a.isCode(args)
		a.reaches(moduleReach(s.mod), name+" -m "+s.mod)
		return
	case len(s.names) == 0 && len(args) > 0 && !slices.Contains(texts, "-"): // such as --version
		a.isCode(args)
		return
	case len(s.names) == 0 || s.names[0] == "-":
		a.isCode(args)
		a.input(name, in, false)
		return
	}
	rest = len(args) - len(s.names)
	a.isCode(args[:min(rest+1, len(args))])
	for _, w := range args[min(rest+1, len(args)):] {
		if w.known {
			a.data[w.text] = true
		}
	}
}

// environ returns the values of variables of a command, and of this process.
func environ(more []string) func(string) string {
	return func(name string) string {
		for _, pair := range slices.Backward(more) {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return os.Getenv(name)
	}
}
