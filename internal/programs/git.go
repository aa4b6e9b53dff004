package programs

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// gitSpecs are the commands of git that only read the repository's own objects and names:
// with gitOptions and Env, none of them runs a program that the repository names.
// Commands that compare files (status, diff, blame, log -p) run their converters and
// filters: the former are switched off, see gitAfter, and settings with the latter ask, see
// safecmd. The names of the files whose lines a command prints are judged there too.
var gitSpecs = map[string]spec{
	"blame":         {flags: "bcefnwstl", valued: "L", long: "--abbrev= --date= --line-porcelain --porcelain --show-email --show-name --show-number", most: 2},
	"branch":        {flags: "aqrv", long: "--all --list --remotes --show-current --sort= --no-color --color[=] --verbose --ignore-case", none: true},
	"cat-file":      {flags: "epst", words: true, most: 1},
	"check-ignore":  {flags: "nqv", long: "--no-index --non-matching --quiet --verbose"},
	"count-objects": {flags: "vH", long: "--human-readable --verbose", none: true},
	"describe":      {long: "--abbrev[=] --all --always --candidates= --contains --exact-match --exclude= --first-parent --long --match= --tags", words: true},
	"diff":          {flags: "bpuwz", valued: "U", words: true, long: "--cached --staged" + gitDiff},
	"grep": {
		flags: "acEFGhHIilLnoPvWwz", valued: "ABCem", digits: true, words: true, long: "--after-context= --all-match --and --basic-regexp --before-context= --break --cached --column --context= --count --extended-regexp " +
			"--files-with-matches --files-without-match --fixed-strings --full-name --function-context --heading --ignore-case --invert-match --line-number --max-count= --max-depth= --no-color --not --null --only-matching --or --perl-regexp " +
			"--quiet --recursive --show-function --text --untracked --word-regexp",
	},
	"log": {flags: "bimpquwz", valued: "GLnSU", digits: true, words: true, long: "--abbrev-commit --abbrev[=] --after= --all --author= --before= --branches --committer= --date-order --date= --decorate[=] --first-parent --follow " +
		"--format= --full-history --graph --grep= --left-right --max-count= --merges --no-decorate --no-merges --oneline --pickaxe-all --pickaxe-regex --pretty[=] --reverse --since= --skip= --tags --topo-order --until=" + gitDiff},
	"ls-files":   {flags: "cosz", long: "--cached --exclude-standard --full-name --others --stage", folder: true, names: true},
	"ls-tree":    {flags: "dlrtz", long: "--full-name --full-tree --long --name-only --name-status --abbrev[=]", words: true},
	"merge-base": {flags: "a", long: "--all --fork-point --is-ancestor --octopus", words: true},
	"name-rev":   {long: "--always --name-only --no-undefined --tags", words: true},
	"reflog":     {valued: "n", digits: true, long: "--date= --max-count=", none: true},
	"remote":     {none: true},
	"rev-list": {flags: "", valued: "n", digits: true, words: true, long: "--after= --all --author= --before= --branches --count --first-parent --left-right --max-count= --merges --no-merges --objects --reverse --since= --skip= " +
		"--tags --topo-order --until="},
	"rev-parse": {flags: "q", long: "--abbrev-ref --absolute-git-dir --git-common-dir --git-dir --is-bare-repository --is-inside-git-dir --is-inside-work-tree --is-shallow-repository --quiet --short[=] --show-cdup " +
		"--show-prefix --show-superproject-working-tree --show-toplevel --symbolic --symbolic-full-name --verify", words: true},
	"show":       {flags: "bmpsuwz", valued: "U", words: true, long: "--abbrev-commit --abbrev[=] --date= --decorate[=] --format= --no-decorate --no-patch --oneline --pretty[=]" + gitDiff},
	"shortlog":   {flags: "cens", long: "--email --no-merges --numbered --summary", words: true},
	"show-ref":   {flags: "dhqs", long: "--abbrev --dereference --hash --heads --head --quiet --tags --verify", words: true},
	"stash show": {flags: "bpuwz", valued: "U", words: true, most: 1, long: gitDiff},
	"status":     {flags: "bsz", long: "--ahead-behind --branch --ignored[=] --long --no-ahead-behind --no-renames --porcelain[=] --short --show-stash --untracked-files[=]", names: true},
	"tag":        {flags: "l", long: "--list --sort=", words: true},
	"version":    {none: true},
}

// gitDiff are the long options of the commands that compare versions.
const gitDiff = " --color[=] --compact-summary --diff-filter= --exit-code --find-renames[=] --histogram --ignore-all-space --ignore-blank-lines --ignore-space-change --minimal " +
	"--name-only --name-status --no-color --no-renames --numstat --patch --patience --quiet --shortstat --stat[=] --summary --unified= --word-diff[=]"

// gitLists are whole commands that only read.
var gitLists = [][]string{{"--version"}, {"stash", "list"}, {"worktree", "list"}}

// gitReports are commands of git that only read, or fail, unless other words make them write or run something.
// None tells the settings but remote, the addresses.
var gitReports = []string{
	"bisect log", "check-attr", "check-ref-format", "for-each-ref", "fsck", "notes list", "remote -v", "remote get-url", "submodule status", "verify-commit", "verify-tag", "worktree list",
}

// gitLooks is the Looks of git.
func gitLooks(args []string) bool {
	if wordsOf(gitReports, append([]string{"git"}, args...)) > 0 {
		return true
	}
	uses, why := git(args)
	return why == "" && !uses.Prints && !slices.Contains([]string{"blame", "cat-file", "show"}, args[0])
}

// git judges git COMMAND. Options before the command ask.
func git(args []string) (Reads, string) {
	if slices.ContainsFunc(gitLists, func(list []string) bool { return slices.Equal(args, list) }) {
		return Reads{}, ""
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return Reads{}, "its options before the command can make it run programs"
	}
	name, n := gitName(args)
	s, known := gitSpecs[name]
	if !known {
		return Reads{}, name + " is not one of git's read-only commands; a repository can make other commands run its own programs"
	}
	c, why := s.parse(args[n:])
	switch {
	case why != "":
		return Reads{}, why
	case name == "tag" && len(c.rest) > 0 && !c.has("-l") && !c.has("--list"):
		return Reads{}, "it makes a tag"
	}
	if why := gitFormat(c.options); why != "" {
		return Reads{}, why
	}
	uses := s.reads(c)
	uses.Prints = printsLines(name, c)
	uses.Compares = uses.Prints || slices.Contains([]string{"blame", "diff", "status"}, name)
	if !uses.Compares && name != "show" && name != "cat-file" {
		return uses, ""
	}
	return versions(name, n, c, uses)
}

// gitName returns the command of git, and how many words it has.
func gitName(args []string) (name string, n int) {
	if len(args) > 1 && args[0] == "stash" && args[1] == "show" {
		return "stash show", 2
	}
	return args[0], 1
}

// printsLines reports whether a command of git prints lines of files that its arguments do not name,
// or tells which of them hold some text.
func printsLines(name string, c call) bool {
	has := func(options string) bool { return len(keep(c, options)) > 0 }
	switch name {
	case "grep":
		return true
	case "log":
		return has("-p -u --patch -U --unified --word-diff -S -G -L")
	case "diff", "show", "stash show":
		return has("-p -u --patch -U --unified --word-diff") || !has("-s --no-patch --name-only --name-status --numstat --quiet --shortstat --stat --summary")
	}
	return false
}

// versions adds to uses the files, versions and files of versions that the arguments of a command of
// git name, behind its n words.
func versions(name string, n int, c call, uses Reads) (Reads, string) {
	if uses.Prints && c.has("--graph") {
		return Reads{}, "it draws the history beside the names of the files"
	}
	first := patterns(name, c)
	if c.split < first {
		return Reads{}, "it has no text to search for"
	}
	uses.Files = c.rest[c.split:]
	for i := first; i < c.split; i++ {
		switch word := c.rest[i]; {
		case name == "stash show" && !stash.MatchString(word):
			return Reads{}, word + " is not known to be a stash"
		case name == "stash show":
		case name != "show" && name != "cat-file" || !strings.Contains(word, ":"):
			uses.Versions = append(uses.Versions, n+c.at[i])
		default:
			version, file, _ := strings.Cut(word, ":")
			if Commit(version) == "" || strings.Contains(version, "..") || slices.Contains(strings.Split(file, "/"), "..") {
				return Reads{}, word + " is not known to be a file of a version"
			}
			uses.Old = append(uses.Old, file)
		}
	}
	return uses, ""
}

// patterns returns the number of the first arguments of a command of git that are texts to search for.
func patterns(name string, c call) int {
	if name == "grep" && !c.has("-e") {
		return 1
	}
	return 0
}

// stash matches the name of a stash.
var stash = lazyregexp.New(`^(stash@\{)?\d+\}?$`)

// version matches an argument that names a version, or two with dots between them; revision is one.
var version = lazyregexp.New(`^(\^?)(` + revision + `)(?:(\.\.\.?)(` + revision + `))?$`)

const revision = `(?:@|[\pL\pN_][\pL\pN_/+#=-]*(?:\.[\pL\pN_/+#=-]+)*)?(?:@\{[\w-]+\})?(?:[~^]\d*)*`

// Commit returns an argument of git that names a version, or two of them by A..B, so that it fails for
// another object than a commit: of the hash of a file, git would show the content. It is "" for an argument of
// another form.
func Commit(arg string) string {
	only := func(side string) string {
		if side != "" {
			side += "^{commit}"
		}
		return side
	}
	m := version.FindStringSubmatch(arg)
	if m == nil {
		return ""
	}
	return m[1] + only(m[2]) + m[3] + only(m[4])
}

// GitList returns the arguments with which git names the files of which it prints lines with args, and
// maybe more, each ended by a NUL, that of a version behind a colon.
func GitList(args []string) []string {
	name, n := gitName(args)
	c, _ := gitSpecs[name].parse(args[n:])
	list := []string{"--name-status", "-z"}
	if name == "log" || name == "show" {
		list = append(list, "-m", "--format=")
	}
	var options []string
	switch {
	case name == "grep": // all files that are searched, not only those with a match
		options, list = keep(c, "--cached --untracked"), []string{"--full-name", "-l", "-z", "-e", ""}
	case c.has("-S") || c.has("-G") || c.has("-L"): // the lines may come from a file of any name
		options = keep(c, "--all --branches --follow --tags")
	default:
		for i, arg := range args[n:] {
			if !slices.Contains(c.at, i) && arg != "--" && arg != "--exit-code" { // with which differences look like a failure
				options = append(options, arg)
			}
		}
	}
	words := c.rest[patterns(name, c):c.split]
	if c.split < len(c.rest) {
		words = slices.Concat(words, []string{"--"}, c.rest[c.split:])
	}
	return slices.Concat([]string{"-c", "diff.relative=false", "-c", "log.diffMerges=separate"}, guardedGit(slices.Concat(args[:n], options, list, words), Reads{}))
}

// keep returns those of some options that a call has.
func keep(c call, options string) []string {
	return slices.DeleteFunc(strings.Fields(options), func(o string) bool { return !c.has(o) })
}

// gitFormats are the names of formats that a repository cannot define.
var gitFormats = strings.Fields("email full fuller medium mboxrd oneline raw reference short")

// gitFormat returns why the format in the options could run a program, or "". The
// placeholders of signatures do, and a name may be one that the repository defines.
func gitFormat(options map[string]string) string {
	for _, name := range []string{"--format", "--pretty"} {
		format, ok := options[name]
		switch {
		case !ok || format == "" || slices.Contains(gitFormats, format):
		case signature.MatchString(format):
			return "it checks signatures with a program"
		case !strings.HasPrefix(format, "format:") && !strings.HasPrefix(format, "tformat:") && !strings.Contains(format, "%"):
			return "the repository may define the format " + format
		}
	}
	return ""
}

// signature matches the placeholders of a signature; a sign or a blank may precede the letter.
var signature = lazyregexp.New(`%[-+ ]?G`)

// gitOptions stand before the command of git in its guarded form, and gitAfter behind those that
// compare files.
var (
	gitOptions = []string{
		"--no-pager", "--no-optional-locks",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "diff.external=", "-c", "log.showSignature=false", "-c", "format.pretty=medium",
		"-c", "gpg.program=false", "-c", "gpg.ssh.program=false", "-c", "gpg.x509.program=false", "-c", "core.sshCommand=false", "-c", "core.askPass=false", "-c", "core.alternateRefsCommand=false", "-c", "core.editor=false",
		"-c", "credential.helper=", "-c", "protocol.allow=never", "-c", "submodule.recurse=false", "-c", "diff.submodule=short", "-c", "diff.autoRefreshIndex=false", "-c", "status.submoduleSummary=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
	}
	gitAfter = map[string][]string{
		"blame":      {"--no-textconv", "--no-ignore-revs-file"}, // of which an error shows a line
		"cat-file":   nil,
		"diff":       {"--no-ext-diff", "--no-textconv", "--ignore-submodules=all"},
		"grep":       {"--no-textconv", "--no-recurse-submodules"},
		"log":        {"--no-ext-diff", "--no-textconv"},
		"show":       {"--no-ext-diff", "--no-textconv"},
		"stash show": {"--no-ext-diff", "--no-textconv"},
		"status":     {"--ignore-submodules=all"},
	}
)

// guardedGit returns the arguments with which git runs no program that a repository names.
func guardedGit(args []string, _ Reads) []string {
	if len(args) == 0 {
		return gitOptions
	}
	name, n := gitName(args)
	return slices.Concat(gitOptions, args[:n], gitAfter[name], args[n:])
}

// Env is added to the environment of guarded programs: git fetches nothing
// and asks nobody, go downloads and runs no other version of itself, and does not count its calls.
var Env = []string{
	"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_OPTIONAL_LOCKS=0",
	"GOTOOLCHAIN=local", "GOPROXY=off", "TEST_TELEMETRY_DIR=/dev/null/none",
}
