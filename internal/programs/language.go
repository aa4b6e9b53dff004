package programs

import "slices"

// Language is a family of programs that run texts.
type Language struct {
	Shell   bool
	Awk     bool     // its program is the first argument, and it does not run its input
	Loose   bool     // its words may be other things than a program and its arguments
	Modules bool     // -m is before the name of a module
	InPlace bool     // -i changes files in place; in other languages, it makes a program run its input
	Code    string   // letters of options before the text of a program
	Valued  string   // letters of options before another value
	Endings []string // appended to a name to find its file
}

var (
	shell      = &Language{Shell: true, Loose: true, Code: "c", Valued: "oO"}
	awkProgram = &Language{Awk: true}
	javascript = &Language{Code: "ep", Valued: "rC", Endings: jsEndings}
	loosely    = &Language{Loose: true}
	looseNode  = &Language{Loose: true, Endings: jsEndings}

	jsEndings = []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", "/index.js", "/index.mjs", "/index.cjs", "/index.ts", "/package.json"}
	pyEndings = []string{".py", "/__main__.py"}

	// Endings are those of a path in a script, if the program that gets it is unknown.
	Endings = slices.Concat([]string{""}, jsEndings, pyEndings, []string{"/__init__.py", ".rb", ".pm", ".lua", ".sh"})
)

// RunsInput reports whether programs of l run the text that they read.
func (l *Language) RunsInput() bool { return l != nil && !l.Awk && (l.Shell || !l.Loose) }
