package footprint

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bb2d0cf4/agent/internal/programs"
)

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

// isCode notes that words may name files that are run.
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
	args, p := words[1:], programs.Find(name)
	behind := slices.IndexFunc(args, func(w word) bool { return slices.Contains(p.Exec, w.text) })
	installed, launches := launchedBy(p, args)
	switch {
	case a.funcs[words[0].text]: // its body is interpreted at its definition
		a.isCode(args)
	case name == "eval" || name == "trap":
		a.text(name, args)
	case name == "." || name == "source":
		a.sourced(name, args, in)
	case p.Language != nil && p.Language.Shell:
		a.shell(name, args, in)
	case p.Valued != "":
		a.wrapped(name, args, in)
	case behind >= 0:
		if strings.HasSuffix(args[behind].text, "dir") { // in the folder of each file
			a.reaches(Anything, name)
		}
		a.each(args[behind+1:])
	case launches:
		a.isCode(args)
		a.launched(installed, in)
	default:
		a.program(name, words, in)
	}
}

// launchedBy returns the words with which p starts an installed program, if it does.
func launchedBy(p *programs.Program, args []word) (words []word, launches bool) {
	if len(args) > 0 && slices.Contains(strings.Fields(p.Launch), args[0].text) {
		return args[1:], true
	}
	return args, p.Is.Has(programs.Packaged)
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

// sourced interprets the arguments of a command that runs a file in the same shell.
func (a *reading) sourced(name string, args []word, in source) {
	a.isCode(args)
	if len(args) > 0 && isStream(args[0]) {
		a.input(name, in, true)
		return
	}
	a.script(name, args)
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
		case slices.Contains([]string{"-o", "+o", "-O", "+O"}, arg):
			i++
		case programs.Short(arg, "c"):
			a.isCode(args)
			if i+1 >= len(args) || !args[i+1].known {
				a.fail("%s runs a text that is known only when it runs", name)
				return
			}
			a.line(args[i+1].text)
			return
		case programs.Short(arg, "il"), strings.HasPrefix(arg, "--rc"), strings.HasPrefix(arg, "--init"): // it reads its start-up files
			a.isCode(args)
			a.reaches(Anything, name)
		case strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "+"):
		case isStream(args[i]):
			a.input(name, in, true)
			return
		default:
			a.isCode(args[i : i+1])
			return
		}
	}
	a.input(name, in, true)
}

// isStream reports whether a word names the input of a program, or another file that it has open.
func isStream(w word) bool {
	return strings.HasPrefix(w.text, "/dev/") || strings.HasPrefix(w.text, "/proc/")
}

// input interprets the input that a program runs.
func (a *reading) input(name string, in source, isShell bool) {
	switch {
	case in.file != nil && (in.file.Op == syntax.RdrIn || in.file.Op == syntax.RdrInOut):
		words := a.expand(in.file.Word)
		a.isCode(words)
		a.script(name, words)
	case in.file != nil:
		text, known := a.document(in.file)
		switch {
		case !known:
			a.fail("%s runs a text that is known only when it runs", name)
		case isShell:
			a.line(text)
		default:
			a.reaches(Anything, name)
		}
	case in.from == nil || !a.prints(in.from):
		a.fail("%s runs its input", name)
	}
}

// document returns the text that a redirection holds; false if it is not known.
func (a *reading) document(r *syntax.Redirect) (text string, known bool) {
	if r.Op == syntax.WordHdoc {
		words := a.expand(r.Word)
		for _, w := range words {
			text += w.text + " "
		}
		return text, !slices.ContainsFunc(words, func(w word) bool { return !w.known })
	}
	if r.Hdoc == nil {
		return "", false
	}
	for _, part := range r.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return "", false
		}
		text += lit.Value
	}
	return text, true
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
	valued := programs.Find(name).Valued
	for i := 0; i < len(args); i++ {
		arg := args[i].text
		switch {
		case !args[i].known:
			a.fail("the program that %s starts is known only when it runs", name)
			return
		case arg == "--" || arg == "":
		case name == "env" && (programs.Short(arg, "S") || strings.HasPrefix(arg, "--sp")):
			a.isCode(args)
			a.fail("%s splits a text", name)
			return
		case len(arg) == 2 && programs.Short(arg, valued):
			i++
		case strings.HasPrefix(arg, "-"):
		case assigns(arg):
			a.setting(args[i])
		case programs.IsNumber(arg) && name != "env":
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

// setting interprets an assignment that is an argument.
func (a *reading) setting(w word) {
	a.isCode([]word{w})
	if key, _, _ := strings.Cut(w.text, "="); steers(key) {
		a.reaches(Anything, key+"=")
	}
}

func assigns(arg string) bool {
	key, _, ok := strings.Cut(arg, "=")
	return ok && key != "" && !strings.ContainsAny(key, "/ -.")
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
		if p := programs.Find(name); p.Is.Has(programs.Plain) || p.Manifests != "" || p.Language != nil || p.ReachOf(texts(args[i+1:])) > Named || a.inside(w.text) {
			a.command(args[i:], in)
		}
		return
	}
}

// program interprets a command that starts no other as its words show.
func (a *reading) program(name string, words []word, in source) {
	args, p := words[1:], programs.Find(name)
	if p.Language != nil && !p.Language.Awk {
		a.interpreter(name, args, in)
		return
	}
	reach, exact := p.ReachOf(texts(args)), p.Is.Has(programs.Exact)
	switch {
	case reach > Named:
		a.reaches(reach, name)
	case p.Is.Has(programs.Plain):
		a.plainly(name, args)
		return
	case exact, p.Manifests != "", a.inside(words[0].text):
	default:
		a.reaches(Anything, name)
	}
	a.isCode(args)
	if in.file != nil && in.file.Op == syntax.RdrIn && exact { // some take commands
		a.isCode(a.expand(in.file.Word))
	}
	if mayBeAnything(name, args) {
		a.reaches(Anything, name)
	}
}

// mayBeAnything reports whether arguments that are known only when they run, or code in them,
// may make a program run any file.
func mayBeAnything(name string, args []word) bool {
	p := programs.Find(name)
	unknown := slices.IndexFunc(args, func(w word) bool { return !w.known })
	if unknown == 0 || unknown > 0 && p.Manifests != "" && name != "git" {
		return true
	}
	return p.Language != nil && slices.ContainsFunc(args, func(w word) bool { return !w.known || mayRunMore(w.text) })
}

// plainly notes the arguments of a program that runs nothing.
func (a *reading) plainly(name string, args []word) {
	kind, does := a.data, programs.Find(name).Is
	if does.Has(programs.Output) {
		kind = a.output
	}
	for i, w := range args {
		switch {
		case !w.known:
		case i > 0 && strings.HasPrefix(args[i-1].text, "--"): // some options name a program
			a.code[w.text] = true
		default:
			kind[w.text] = true
		}
	}
	a.writes = a.writes || does.Has(programs.Makes)
}

// texts returns the texts of words, ? for one that is not known.
func texts(words []word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w.text; !w.known {
			out[i] = "?"
		}
	}
	return out
}

// interpreter interprets the arguments of a program that runs code.
func (a *reading) interpreter(name string, args []word, in source) {
	p, words := programs.Find(name), texts(args)
	reach := p.ReachOf(words)
	a.reaches(reach, name)
	s := startOf(p.Language, words)
	if reach == Named && s.runsFile() {
		script := len(args) - len(s.names) + 1
		a.isCode(args[:script])
		a.plainly(name, args[script:])
		return
	}
	a.isCode(args)
	switch {
	case s.code && slices.ContainsFunc(args, func(w word) bool { return !w.known || mayRunMore(w.text) }):
		a.reaches(Anything, name)
	case s.code || s.Loose || reach > Named:
	case s.mod != "":
		reach, _ := programs.Module(s.mod)
		a.reaches(reach, name+" -m "+s.mod)
	case len(s.names) > 0 || len(args) == 0 || slices.Contains(words, "-"): // not as with --version
		a.input(name, in, false)
	}
}
