// Package safecmd classes shell command lines before they run: safe, ask or danger. It
// guarantees that a line is safe only if each of its commands is a known program with
// known options that only read, written in literal words; that the form of a safe line
// which Judgement.Script returns consists of exactly the words that were judged; and that
// everything unknown asks.
package safecmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/programs"
	"github.com/bb2d0cf4/agent/internal/shellline"
)

// Class is how much care a command line needs. A greater class is stricter.
type Class int

// The classes.
const (
	Safe   Class = iota // only reads
	Ask                 // unknown, or does more than read
	Danger              // hard to undo, or disguised
)

// String returns the name of c.
func (c Class) String() string {
	switch c {
	case Safe:
		return "safe"
	case Ask:
		return "ask"
	}
	return "danger"
}

// MarshalText encodes c for JSON.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Part is a piece of a line with a class of its own: a simple command, a redirection, or
// a construct of the shell.
type Part struct {
	Text   string `json:"command"` // as in the line; not sanitized
	Class  Class  `json:"class"`
	Reason string `json:"reason"` // in plain words; not sanitized
	// Words are the words of a simple command without quotes, if all are literal; else
	// nil. Hidden means that Words do not name all programs that it runs.
	Words  []string `json:"-"`
	Hidden bool     `json:"-"`
	Piped  bool     `json:"-"` // it reads what another part prints

	input bool  // it reads a file as its standard input
	away  []int // see confirm.CommandPart
}

// Judgement is the class of a line, which is the strictest class of its parts.
type Judgement struct {
	Class Class  `json:"class"`
	Parts []Part `json:"parts"`
	// Misplaced means that the text only reads, but the files or programs that it names
	// need a question.
	Misplaced bool `json:"-"`

	steps  []step       // the safe parts, and the operators, of a line
	enters string       // the folder that a line with a cd enters first, without symbolic links
	file   *syntax.File // nil if the line was not parsed
	text   string       // of file
	layout string       // why its layout asks, if it does more than read
	rough  bool         // file is nil because the line is not valid shell
}

// Reasons returns the reasons of the parts that give the line its class, each once.
func (j Judgement) Reasons() []string {
	var out []string
	seen := map[string]bool{}
	for _, p := range j.Parts {
		if p.Class == j.Class && !seen[p.Reason] {
			seen[p.Reason] = true
			out = append(out, p.Reason)
		}
	}
	return out
}

// CommandParts returns the parts for permission rules. Commands of git and go count as
// safe only in the guarded form, in which a line that a rule allows is not run; with
// askAll nothing counts as safe. The file that a part reads as its standard input is a
// part without words.
func (j Judgement) CommandParts(askAll bool) []confirm.CommandPart {
	var out []confirm.CommandPart
	for i := range j.Parts {
		out = append(out, j.commandPart(i, askAll)...)
	}
	return out
}

// CommandPart returns the part i for permission rules, see CommandParts.
func (j Judgement) CommandPart(i int, askAll bool) confirm.CommandPart {
	return j.commandPart(i, askAll)[0]
}

// commandPart returns the part i and, if it reads a file as its standard input, that.
func (j Judgement) commandPart(i int, askAll bool) (out []confirm.CommandPart) {
	p := j.Parts[i]
	safe := p.Class == Safe && !askAll && len(p.Words) > 0
	if safe && programs.Find(p.Words[0]).Guard != nil {
		safe = p.Words[0] == "rg" && j.Class != Safe // else Judge took it to be guarded
	}
	out = append(out, confirm.CommandPart{Words: p.Words, Safe: safe, Hidden: p.Hidden, Piped: p.Piped, Away: p.away})
	if p.input && !safe {
		out = append(out, confirm.CommandPart{}) // the words do not show what the file makes it do
	}
	return out
}

func (j *Judgement) add(text string, class Class, format string, args ...any) {
	j.Class = max(j.Class, class)
	j.Parts = append(j.Parts, Part{Text: text, Class: class, Reason: fmt.Sprintf(format, args...)})
}

// unparsed adds a part for a line that was not taken apart.
func (j *Judgement) unparsed(line, format string, args ...any) {
	j.add(line, Danger, format, args...)
	j.Parts[len(j.Parts)-1].Hidden = true
}

// Classify judges line by its text alone. Place.Judge also looks at the programs and
// files that it names.
func Classify(line string) Judgement { return classify(line, nil) }

// classify is Classify for a project in the folders roots.
func classify(line string, roots []string) Judgement {
	var j Judgement
	file, err := shellline.Parse(line)
	var refused shellline.UnparsedError
	switch {
	case errors.As(err, &refused):
		j.unparsed(line, "%s", refused)
		return j
	case err != nil:
		j.unparsed(line, "it is not valid shell, so what it does is unknown: %s", firstLine(err.Error()))
		j.rough = true
		return j
	}
	if len(file.Stmts) == 0 {
		j.add(line, Ask, "it has no command")
		return j
	}
	d := newDetector(line, roots)
	d.file(file)
	r := reader{line: line, dangers: d.found}
	r.statements(file.Stmts)
	r.passOn()
	j.Parts, j.steps, j.file, j.text = slices.Concat(r.Parts, d.rest()), r.steps, file, line
	for _, p := range j.Parts {
		j.Class = max(j.Class, p.Class)
	}
	if why := oddText(line, file); why != "" {
		j.add(line, Ask, "%s", why)
	}
	j.layout = oddLayout(line, file)
	j.laidOut()
	return j
}

// laidOut makes j ask about its layout, unless all of it only reads: Script returns that
// without lines and comments.
func (j *Judgement) laidOut() {
	if j.Class > Safe && j.layout != "" {
		j.add(j.text, Ask, "%s", j.layout)
		j.layout = ""
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
