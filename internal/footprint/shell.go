package footprint

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/bb2d0cf4/agent/internal/programs"
	"github.com/bb2d0cf4/agent/internal/shellline"
	"github.com/bb2d0cf4/agent/internal/subpath"
)

// Bounds of a line that is interpreted; of another, anything may be run.
const (
	maxNested  = 4  // lines within lines
	maxChoices = 32 // values of a word with variables
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
	code     map[string]bool // words that may name a file that is run
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

// fail notes that the line does not reveal its footprint.
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
	file, err := shellline.Parse(text)
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

// define notes the functions and variables that a line sets.
func (a *reading) define(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.FuncDecl:
		if n.Name != nil {
			a.funcs[n.Name.Value] = true
		}
	case *syntax.Assign:
		a.variable(n)
	case *syntax.ForClause:
		if loop, ok := n.Loop.(*syntax.WordIter); ok && loop.Name != nil {
			a.vars[loop.Name.Value] = append(a.vars[loop.Name.Value], loop.Items...)
			a.vague[loop.Name.Value] = a.vague[loop.Name.Value] || len(loop.Items) == 0
		}
	case *syntax.CallExpr:
		if len(n.Args) == 0 {
			break
		}
		does := programs.Find(n.Args[0].Lit()).Is
		if does.Has(programs.Enters) {
			a.vague["PWD"], a.vague["OLDPWD"] = true, true
		}
		if does.Has(programs.Sets) {
			for _, w := range n.Args[1:] {
				a.vague[w.Lit()] = true
			}
		}
	}
	return true
}

// variable notes the value of a variable.
func (a *reading) variable(n *syntax.Assign) {
	switch {
	case n.Name == nil:
	case n.Append || n.Index != nil || n.Array != nil:
		a.vague[n.Name.Value] = true
	case n.Value != nil:
		a.vars[n.Name.Value] = append(a.vars[n.Name.Value], n.Value)
	}
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
	if lit := w.Lit(); strings.HasPrefix(lit, "~+") || strings.HasPrefix(lit, "~-") {
		return nil, false
	}
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
			if subpath.In(out, code) {
				return true
			}
		}
	}
	return a.writes
}

// assign notes a value, and a variable that makes programs run others.
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

// steers reports whether a variable tells programs what to run.
func steers(name string) bool {
	for _, end := range strings.Fields("PATH OPTS OPTIONS PRELOAD FLAGS EDITOR PAGER SHELL BROWSER _COMMAND _EXEC RC") {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	for _, begin := range strings.Fields("GIT_ LD_ DYLD_ PYTHON PERL RUBY BASH_ CARGO_ RUSTC npm_config_ NPM_CONFIG_ YARN_ MAKE BUNDLE_ GOCACHEPROG GOTOOL JAVA_TOOL") {
		if strings.HasPrefix(name, begin) {
			return name != "PYTHONUNBUFFERED" && name != "PYTHONDONTWRITEBYTECODE" && name != "PYTHONWARNINGS"
		}
	}
	return slices.Contains(strings.Fields("ENV IFS CC CXX CPP LD AR ZDOTDIR LESSOPEN HOME XDG_CONFIG_HOME"), name)
}
