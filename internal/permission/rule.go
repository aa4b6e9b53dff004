package permission

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/glob"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/shellline"
	"github.com/bb2d0cf4/agent/internal/subpath"
)

// Effect is the answer of a rule. Of all rules that cover a request, the strictest
// counts: the highest Effect.
type Effect int

// The effects.
const (
	Allow Effect = iota + 1
	Ask
	Deny
)

// effects holds the effects' names, as they are written in files and flags.
var effects = [...]string{Allow: "allow", Ask: "ask", Deny: "deny"}

// String returns the name of e.
func (e Effect) String() string { return effects[e] }

// ParseEffect returns the effect with the given name.
func ParseEffect(name string) (Effect, error) {
	if i := slices.Index(effects[Allow:], name); i >= 0 {
		return Allow + Effect(i), nil
	}
	return 0, fmt.Errorf("%q is not allow, ask or deny", name)
}

// kind is the sort of requests that a rule covers.
type kind int

const (
	runs    kind = iota // commands
	edits               // changes of files, by whichever tool
	reads               // files outside the workspace, and those that often hold keys
	calls               // tools of MCP servers
	fetches             // pages
)

// kinds maps the names that a rule may begin with to its kind. Besides our own names it
// has the tools of Claude Code, whose rules people have at hand.
var kinds = map[string]kind{
	"run": runs, "edit": edits, "read": reads, "fetch": fetches,
	"Bash": runs, "Edit": edits, "Write": edits, "MultiEdit": edits, "Read": reads, "WebFetch": fetches,
}

var kindNames = [...]string{runs: "run", edits: "edit", reads: "read", fetches: "fetch"}

// Rule is an answer that a person gave in advance. Make one with ParseRule.
type Rule struct {
	Effect Effect
	Text   string // as ParseRule read it
	Source string // for people: the file and line, or the flag
	Dir    string // if set, the only folder in which it allows commands; absolute, resolved

	Kept Kept
	Life Life // of a rule of the session

	kind  kind
	words []string // of a command; none means every command
	path  pattern  // of a file; empty means every file
	only  only
	id    int    // of a rule of the session; else 0
	tool  string // mcp__server, or mcp__server__tool
	host  string // of a page, or *.domain for the hosts in it; empty means every host
}

// The words of a rule that match others, at its end: plain arguments (see Rule.isMore), and
// any arguments.
const (
	anyArgs = "*"
	anyRest = "**"
)

// ErrUnknownTool is returned for a rule about a tool that does not exist.
var ErrUnknownTool = errors.New("write run(COMMAND), edit(PATH), read(PATH), fetch(HOST) or mcp__SERVER__TOOL")

// ParseRule reads a rule such as run(go test *), edit(docs/**) or read. In run(…), a word
// covers the same word of a command; * at the end covers any further arguments except
// options (and, in a rule that allows, words with = or a leading @ and paths that leave the
// folder, also by a symbolic link), ** any at all. "run(git diff:*)" means "run(git diff **)". edit(…) and read(…)
// take a glob, which is relative to the workspace, absolute, or begins with ~/; fetch(…) takes
// a host, or *.domain.
func ParseRule(effect Effect, text, source string) (Rule, error) {
	r := Rule{Effect: effect, Text: text, Source: source}
	name, rest, scoped := strings.Cut(strings.TrimSpace(text), "(")
	if server, ok := strings.CutPrefix(name, mcpPrefix); ok && server != "" && !scoped {
		r.kind, r.tool = calls, strings.TrimSuffix(name, "__"+anyArgs)
		return r, nil
	}
	k, ok := kinds[name]
	if !ok {
		return r, fmt.Errorf("%s: %q is not a rule: %w", source, text, ErrUnknownTool)
	}
	r.kind = k
	if !scoped {
		return r, nil
	}
	scope, closed := strings.CutSuffix(rest, ")")
	if scope = strings.TrimSpace(scope); !closed || scope == "" {
		return r, fmt.Errorf("%s: %q: want text between the parentheses, or no parentheses for everything", source, text)
	}
	var err error
	switch k {
	case runs:
		r.words, err = ruleWords(scope)
	case fetches:
		r.host, err = ruleHost(scope)
	default:
		r.path, err = newPattern(scope)
	}
	if err != nil {
		return r, fmt.Errorf("%s: %q: %w", source, text, err)
	}
	return r, nil
}

// ruleWords splits the scope of a rule for commands.
func ruleWords(scope string) ([]string, error) {
	if prefix, ok := strings.CutSuffix(scope, ":*"); ok {
		scope = prefix + " " + anyRest
	}
	words, err := splitWords(scope)
	if err != nil {
		return nil, err
	}
	for i, w := range words {
		switch wild := w == anyArgs || w == anyRest; {
		case wild && i == 0:
			return nil, errors.New("name the program; plain run covers every command")
		case wild && i < len(words)-1:
			return nil, fmt.Errorf("%s may only be the last word", w)
		}
	}
	return words, nil
}

// splitWords splits a rule at blanks. Single or double quotes keep a word together.
func splitWords(s string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	in := false
	for _, c := range s {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ' || c == '\t':
			if in {
				words = append(words, word.String())
			}
			word.Reset()
			in = false
		case strings.ContainsRune("\n\r;|&<>`$\\", c):
			return nil, fmt.Errorf("a rule covers one simple command, so %q must be in quotes", c)
		default:
			word.WriteRune(c)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}

// String returns the rule as ParseRule reads it, without its effect, or describes the scope
// of one that was made without words, with names and lines as a question shows them. Other
// words are not sanitised.
func (r Rule) String() string {
	switch {
	case r.only.path != "":
		return "reading " + sanitize.Name(r.only.path)
	case r.only.background:
		return fmt.Sprintf("the command %s in the background, in %s", sanitize.Exact(strconv.Quote(r.only.line)), sanitize.Name(r.Dir))
	case r.only.line != "":
		return fmt.Sprintf("the command %s in %s", sanitize.Exact(strconv.Quote(r.only.line)), sanitize.Name(r.Dir))
	case r.isGrant():
		return "edits"
	case r.kind == calls:
		return r.tool
	case r.kind == fetches && r.host != "":
		return "fetch(" + r.host + ")"
	case r.kind == runs && len(r.words) > 0:
		return "run(" + joinWords(r.words) + ")"
	case r.path.text != "":
		return kindNames[r.kind] + "(" + r.path.text + ")"
	}
	return kindNames[r.kind]
}

// joinWords quotes the words that splitWords would split or refuse.
func joinWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\r;|&<>`$\\'\"") {
			w = shellline.Quote(w)
		}
		out[i] = w
	}
	return strings.Join(out, " ")
}

// coversWords reports whether r covers a simple command. Words that are not known in
// advance must not be passed.
func (r Rule) coversWords(words []string) bool {
	if r.kind != runs || r.only.line != "" {
		return false
	}
	if len(r.words) == 0 {
		return true
	}
	fixed, rest := r.words, ""
	if last := r.words[len(r.words)-1]; last == anyArgs || last == anyRest {
		fixed, rest = r.words[:len(r.words)-1], last
	}
	if len(words) < len(fixed) || !slices.Equal(words[:len(fixed)], fixed) {
		return false
	}
	more := words[len(fixed):]
	return len(more) == 0 || rest == anyRest ||
		rest == anyArgs && !slices.ContainsFunc(more, r.isMore)
}

// isMore reports whether a word is more than an argument for *: an option, or, in a rule
// that allows, a path that leads out of the folder or a word with a meaning of its own to
// some programs, such as the variables of make.
func (r Rule) isMore(word string) bool {
	switch {
	case strings.HasPrefix(word, "-"):
		return true
	case r.Effect != Allow:
		return false
	}
	return filepath.IsAbs(word) || subpath.HasDrive(word) || strings.ContainsAny(word[:min(1, len(word))], `/\~@`) || strings.Contains(word, "=") ||
		slices.Contains(strings.FieldsFunc(word, func(c rune) bool { return strings.ContainsRune(`/\:`, c) }), "..")
}

// mcpPrefix begins the rules for tools of MCP servers.
const mcpPrefix = "mcp__"

// coversCall reports whether r covers calls of the tool with the given name. Servers choose
// the names of their tools: x__y is another tool than x.
func (r Rule) coversCall(tool string) bool {
	return r.kind == calls && (tool == r.tool || !r.namesTool() && strings.HasPrefix(tool, r.tool+"__"))
}

// namesTool reports whether r is about one tool of a server, not all. A server's name has
// no __.
func (r Rule) namesTool() bool { return strings.Contains(strings.TrimPrefix(r.tool, mcpPrefix), "__") }

// pattern selects files: by their name in the workspace, or by their absolute path.
type pattern struct {
	text   string // as written
	abs    bool
	rooted bool // it begins with a slash where absolute paths begin with a drive: which drive is not said
	glob   glob.Glob
	folded glob.Glob // for folded names
}

func newPattern(text string) (p pattern, err error) {
	path := filepath.ToSlash(text)
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return p, fmt.Errorf("write an absolute path: %w", err)
		}
		path = filepath.ToSlash(home) + "/" + rest
	}
	p = pattern{text: text, abs: isAbs(path)}
	p.rooted = p.abs && !filepath.IsAbs(filepath.FromSlash(path))
	if p.glob, err = glob.New(path); err == nil {
		p.folded, err = glob.New(fold(path))
	}
	return p, err
}

// match reports whether p selects a file. strict ignores case and hidden characters, as
// some file systems do, lets a pattern that begins with **/ select files everywhere, and one that
// lacks the drive those of each drive, where it selects none otherwise.
func (p pattern) match(f file, strict bool) bool {
	name := f.name
	if p.abs || isAbs(name) {
		name = f.abs
	}
	anywhere := !strings.Contains(p.text, "/") || strict && strings.HasPrefix(p.text, "**/")
	if name == "" || p.abs != isAbs(name) && !anywhere || p.rooted && !strict {
		return false
	}
	if p.rooted {
		name = name[len(filepath.VolumeName(name)):]
	}
	name = strings.TrimPrefix(filepath.ToSlash(name), "/")
	return p.glob.Match(name) || strict && p.folded.Match(fold(name))
}

// isAbs reports whether a path is absolute, or would be if it had a drive.
func isAbs(name string) bool {
	return filepath.IsAbs(filepath.FromSlash(name)) || strings.HasPrefix(filepath.ToSlash(name), "/")
}

// file is the file of a request: its name in the workspace, with forward slashes, which is
// absolute or empty for a file outside, and its resolved path.
type file struct{ name, abs string }

// coversFile reports whether r covers requests of kind k about f.
func (r Rule) coversFile(k kind, f file) bool {
	switch {
	case r.kind != k:
		return false
	case r.only.path != "":
		return r.only.path == f.abs
	}
	return r.path.text == "" || r.path.match(f, r.Effect != Allow)
}
