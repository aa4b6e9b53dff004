package safecmd

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bb2d0cf4/agent/internal/programs"
	"github.com/bb2d0cf4/agent/internal/shellline"
)

// maxInner is the nesting of commands in commands up to which effects are searched.
const maxInner = 3

// maxExplained is the number of bytes of parts in which effects are searched. Parts overlap, so
// those of one line can have many times its length.
const maxExplained = 4 * shellline.Max

// Unusual describes the unusual effects of the line of j that p judged, each in a few plain
// words: effects beyond the folder, and pieces that the words do not show. It returns
// nil for an ordinary command. The texts are not sanitized. They explain a question and decide
// nothing: a line may have effects that are not found here.
func (p Place) Unusual(j Judgement) []string {
	left := maxExplained
	u := unusual{place: p, effects: effects, found: map[string]string{}, left: &left}
	u.line(j)
	given := ""
	if j.Class == Danger {
		given = strings.Join(j.Reasons(), "; ")
	}
	var out []string
	for _, e := range effects {
		if text := u.found[e.word]; text != "" && !strings.Contains(given, e.word) {
			out = append(out, text)
		}
	}
	return out
}

// effect is an unusual effect of a command. Its word, unique, is in every reason for a danger
// that includes the effect. An effect without a function is found in the text of a part. One that
// leaves the folder shows nothing in a copy of it.
type effect struct {
	word, text string
	has        func(name string, args []string) bool
	leaves     bool
}

// effects lists the effects in display order.
var effects = []effect{
	{word: "rights", text: "it runs with the rights of another user", has: changesUser, leaves: true},
	{word: "packages", text: "it installs packages", has: installs, leaves: true},
	{word: "network", text: "it uses the network", has: connects, leaves: true},
	{word: "history", text: "it changes git's history", has: commits, leaves: true},
	{word: "outside", leaves: true},
	{word: "inside"},
	{word: "only known"},
	{word: "variable", leaves: true},
	{word: "meaning"},
	{word: "code", text: "it runs code that is in the line", has: hasCode},
	{word: "another program", text: "it runs another program", has: startsAnother},
	{word: "text"},
	{word: "quoted"},
	{word: "background", leaves: true},
}

// unusual collects the unusual effects of a line.
type unusual struct {
	place   Place
	effects []effect
	found   map[string]string // texts by the word of the effect; the first one counts
	depth   int
	left    *int // bytes of parts that may still be examined
}

func (u *unusual) add(word, text string) {
	if u.found[word] == "" {
		u.found[word] = text
	}
}

// line examines a line; one that was too long or deep to be parsed has only its danger.
func (u *unusual) line(j Judgement) {
	if j.file == nil && !j.rough {
		return
	}
	if j.file != nil {
		u.constructs(j.file)
	}
	for _, part := range j.Parts {
		if part.Class != Safe {
			u.part(part)
		}
	}
}

// part examines a piece of a line.
func (u *unusual) part(p Part) {
	if *u.left -= len(p.Text); *u.left < 0 {
		return
	}
	word, unknown := strings.CutSuffix(p.Reason, " is only known when it runs")
	switch {
	case p.Words == nil && slices.ContainsFunc([]string{"$(", "`", "<(", ">("}, func(s string) bool { return strings.Contains(p.Text, s) }):
		u.add("inside", "it runs a command inside of a word")
	case unknown && (strings.Contains(word, "$") || disguised(word)):
		u.add("only known", p.Reason)
	}
	if file, ok := strings.CutPrefix(p.Reason, "it writes to "); ok && u.place.beyond(file) {
		u.add("outside", p.Reason+", outside of the folder")
	}
	if text := p.Text + p.Reason; strings.Contains(text, "/dev/tcp/") || strings.Contains(text, "/dev/udp/") {
		u.add("network", "it uses the network")
	}
	for _, word := range []string{"quoted", "background"} {
		if strings.HasSuffix(p.Reason, " "+word) {
			u.add(word, p.Reason)
		}
	}
	words := p.Words
	if words == nil {
		words = strings.Fields(p.Text) // roughly
	}
	u.command(words)
}

// constructs examines the pieces of a line that are no simple commands.
func (u *unusual) constructs(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			if isDocument(n) {
				u.add("text", "it gives a program text that is in the line")
			}
		case *syntax.FuncDecl:
			if n.Name != nil { // the parser takes () x
				u.add("meaning", "it gives "+n.Name.Value+" a meaning of its own")
			}
		}
		return true
	})
}

// isDocument reports whether n is a here-document.
func isDocument(n *syntax.Redirect) bool {
	return n.Op == syntax.Hdoc || n.Op == syntax.DashHdoc
}

// command examines a simple command and those that it starts.
func (u *unusual) command(words []string) {
	for len(words) > 0 && (strings.Contains(words[0], "=") || is(words[0], programs.Assigns)) {
		if name, _, _ := strings.Cut(words[0], "="); changesPrograms(name) {
			u.add("variable", "it sets "+name+", a variable that can change what programs do")
		}
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	name, args := path.Base(words[0]), words[1:]
	if defined, _, ok := strings.Cut(strings.Join(args, " "), "="); ok && name == "alias" {
		u.add("meaning", "it gives "+defined+" a meaning of its own")
	}
	for _, e := range u.effects {
		if e.has != nil && e.has(name, args) && (e.word != "packages" || !u.place.hasPackage(name, args)) {
			u.add(e.word, e.text)
		}
	}
	u.places(args)
	u.inner(name, args)
}

// places examines the arguments of a command for files outside of the folder.
func (u *unusual) places(args []string) {
	for _, arg := range args {
		if _, value, ok := strings.Cut(arg, "="); ok {
			arg = value
		}
		if u.place.beyond(arg) {
			u.add("outside", "it names "+arg+", outside of the folder")
		}
	}
}

// hasPackage reports whether a program that runs packages of Node finds one in the project.
func (p Place) hasPackage(name string, args []string) bool {
	if !is(name, programs.Packaged) || len(args) == 0 || strings.ContainsAny(args[0], "/@") {
		return false
	}
	_, err := os.Stat(filepath.Join(p.Dir, "node_modules", ".bin", args[0]))
	return err == nil
}

// inner examines the commands in the arguments of a program.
func (u *unusual) inner(name string, args []string) {
	if u.depth >= maxInner || name == "git" || onlyChecks(name, args) || !isWrapper(name) && !is(name, programs.Hides) {
		return
	}
	if starts := programs.Find(name).Exec; len(starts) > 0 {
		i := slices.IndexFunc(args, func(s string) bool { return slices.Contains(starts, s) })
		if i < 0 {
			return
		}
		args = args[i+1:]
	}
	deeper := unusual{place: u.place, effects: u.effects, found: u.found, depth: u.depth + 1, left: u.left}
	for i, arg := range args {
		switch {
		case strings.ContainsAny(arg, " \t\n;|&"):
			deeper.line(Classify(arg))
		case !strings.HasPrefix(arg, "-") && !programs.IsNumber(arg):
			deeper.command(args[i:])
			return
		}
	}
}

// disguised reports whether a word has a letter behind a backslash, which the shell drops.
func disguised(word string) bool {
	for i := range len(word) - 1 {
		if c := word[i+1] | 0x20; word[i] == '\\' && 'a' <= c && c <= 'z' {
			return true
		}
	}
	return false
}

// beyond reports whether a word is the path of a file outside of the folders of the project.
// An absolute path counts if its first folder exists.
func (p Place) beyond(word string) bool {
	clean := path.Clean(word)
	switch {
	case strings.ContainsAny(word, " \t\n") || strings.Contains(word, "://"):
		return false
	case slices.Contains([]string{"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"}, clean):
		return false
	case strings.HasPrefix(word, "~/"):
		return true
	case filepath.VolumeName(clean) != "":
		clean = filepath.FromSlash(clean)
	case !path.IsAbs(clean):
		clean = filepath.Join(p.Dir, clean)
	default:
		top, _, _ := strings.Cut(clean[1:], "/")
		if _, err := os.Stat("/" + top); err != nil {
			return false
		}
	}
	return !slices.ContainsFunc(p.Roots, func(root string) bool { return within(root, clean) })
}

// changesPrograms reports whether a variable can make programs run or load others.
func changesPrograms(name string) bool {
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "GIT_") ||
		slices.Contains(strings.Fields("BASH_ENV EDITOR ENV GOFLAGS IFS MAKEFLAGS NODE_OPTIONS PAGER PATH PERL5OPT PYTHONPATH RUBYOPT VISUAL"), name)
}

func changesUser(name string, _ []string) bool { return is(name, programs.Privileged) }

func installs(name string, args []string) bool {
	if lang := languageOf(name); lang != nil && lang.Modules {
		i := slices.Index(args, "-m")
		return i >= 0 && i+1 < len(args) && installs(args[i+1], args[i+2:])
	}
	return name == "yarn" && len(args) == 0 || programs.Find(name).InstallsBy(args)
}

func connects(name string, args []string) bool { return programs.Find(name).ConnectsBy(args) }

func commits(name string, args []string) bool {
	if name != "git" {
		return false
	}
	i := slices.IndexFunc(args, func(s string) bool {
		return slices.Contains(strings.Fields("am cherry-pick commit filter-branch filter-repo merge pull rebase replace reset revert tag update-ref"), s)
	})
	return i == 0 || i > 0 && strings.HasPrefix(args[0], "-")
}

// hasCode reports whether an interpreter gets its program as an argument.
func hasCode(name string, args []string) bool {
	return isInterpreter(name) && len(args) > 1 && slices.ContainsFunc(args[:len(args)-1], func(s string) bool { return short(s, "ce") })
}

// programOptions are options whose values are programs.
var programOptions = strings.Fields("--compress-program --open-files-in-pager --pre --rsh --use-compress-program")

func startsAnother(name string, args []string) bool {
	for _, arg := range args {
		if option, _, _ := strings.Cut(arg, "="); slices.Contains(programOptions, option) {
			return true
		}
	}
	p := programs.Find(name)
	switch {
	case len(p.Exec) > 0:
		return slices.ContainsFunc(args, func(s string) bool { return slices.Contains(p.Exec, s) })
	case p.Language != nil && p.Language.Awk:
		return strings.Contains(strings.Join(args, " "), "system(")
	case name == "tar":
		return slices.ContainsFunc(args, func(s string) bool { return strings.Contains(s, "-command") || strings.Contains(s, "-action") })
	case name == "git":
		return gitRuns(args)
	case name == "time" || p.Is.Has(programs.Keyword) || p.Is.Has(programs.Elsewhere):
		return false
	}
	return len(args) > 0 && !p.Language.RunsInput() && (isWrapper(name) || p.Is.Has(programs.Hides))
}
