package programs

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// gitSpecs are the commands of git that only read the repository's own objects and names:
// with gitOptions and Env, none of them runs a program that the repository names.
// Commands that compare the files of the folder (status, diff, blame) run its converters and
// filters: the former are switched off, see gitAfter, and settings with the latter ask, see
// safecmd. What else shows content (show, log -p) asks.
var gitSpecs = map[string]spec{
	"blame":         {flags: "bcefnwstl", valued: "L", long: "--abbrev= --date= --line-porcelain --porcelain --show-email --show-name --show-number", most: 1},
	"branch":        {flags: "aqrv", long: "--all --list --remotes --show-current --sort= --no-color --color[=] --verbose --ignore-case", none: true},
	"check-ignore":  {flags: "nqv", long: "--no-index --non-matching --quiet --verbose"},
	"count-objects": {flags: "vH", long: "--human-readable --verbose", none: true},
	"describe":      {long: "--abbrev[=] --all --always --candidates= --contains --exact-match --exclude= --first-parent --long --match= --tags", words: true},
	"diff": {flags: "bwz", valued: "U", long: "--cached --color[=] --compact-summary --diff-filter= --exit-code --find-renames[=] --histogram --ignore-all-space --ignore-blank-lines --ignore-space-change --minimal " +
		"--name-only --name-status --no-color --no-renames --numstat --patience --quiet --shortstat --staged --stat[=] --summary --unified= --word-diff[=]"},
	"log": {flags: "iqz", valued: "n", digits: true, words: true, long: "--abbrev-commit --abbrev[=] --after= --all --author= --before= --branches --committer= --date-order --date= --decorate[=] --first-parent --follow " +
		"--format= --full-history --graph --grep= --left-right --max-count= --merges --name-only --name-status --no-color --no-decorate --no-merges --numstat --oneline --pretty[=] --reverse --shortstat --since= --skip= --stat --tags --topo-order --until="},
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
	"show":     {flags: "sz", words: true, long: "--abbrev-commit --abbrev[=] --date= --decorate[=] --format= --name-only --name-status --no-color --no-decorate --no-patch --numstat --oneline --pretty[=] --shortstat --stat --summary"},
	"shortlog": {flags: "cens", long: "--email --no-merges --numbered --summary", words: true},
	"show-ref": {flags: "dhqs", long: "--abbrev --dereference --hash --heads --head --quiet --tags --verify", words: true},
	"status":   {flags: "bsz", long: "--ahead-behind --branch --ignored[=] --long --no-ahead-behind --no-renames --porcelain[=] --short --show-stash --untracked-files[=]", names: true},
	"tag":      {flags: "l", long: "--list --sort=", words: true},
	"version":  {none: true},
}

// gitLists are whole commands that only read.
var gitLists = [][]string{{"--version"}, {"stash", "list"}, {"worktree", "list"}}

// git judges git COMMAND. Options before the command ask.
func git(args []string) (Reads, string) {
	if slices.ContainsFunc(gitLists, func(list []string) bool { return slices.Equal(args, list) }) {
		return Reads{}, ""
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return Reads{}, "its options before the command can make it run programs"
	}
	s, known := gitSpecs[args[0]]
	if !known {
		return Reads{}, args[0] + " is not a command of git that only reads names and history; a repository can make other commands run its own programs"
	}
	c, why := s.parse(args[1:])
	if why != "" {
		return Reads{}, why
	}
	switch {
	case args[0] == "tag" && len(c.rest) > 0 && !c.has("-l") && !c.has("--list"):
		return Reads{}, "it makes a tag"
	case args[0] == "show" && (slices.Contains(args, "--") || showsOldContent(c)):
		return Reads{}, oldContent
	}
	if why := gitFormat(c.options); why != "" {
		return Reads{}, why
	}
	return compared(args[0], c, s.reads(c))
}

const oldContent = "it shows content of other versions than those in the folder"

// showsOldContent reports whether git show prints lines of files.
func showsOldContent(c call) bool {
	return slices.ContainsFunc(c.rest, func(s string) bool { return strings.Contains(s, ":") }) ||
		!slices.ContainsFunc(strings.Fields("-s --no-patch --name-only --name-status --numstat --shortstat --stat --summary"), c.has)
}

// compared adds the files that a command of git compares to its other reads.
func compared(command string, c call, uses Reads) (Reads, string) {
	uses.Compares = gitAfter[command] != nil
	uses.Tracked = command == "diff" && showsContent(c)
	if uses.Tracked && (c.has("--cached") || c.has("--staged")) {
		return Reads{}, oldContent
	}
	return uses, ""
}

// showsContent reports whether git diff prints lines of files.
func showsContent(c call) bool {
	return !slices.ContainsFunc(strings.Fields("--name-only --name-status --numstat --quiet --shortstat --stat --summary"), c.has) ||
		slices.ContainsFunc(strings.Fields("-U --unified --word-diff"), c.has)
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
		"blame":  {"--no-textconv"},
		"diff":   {"--no-ext-diff", "--no-textconv", "--ignore-submodules=all"},
		"status": {"--ignore-submodules=all"},
	}
)

// guardedGit returns the arguments with which git runs no program that a repository names.
func guardedGit(args []string, _ Reads) []string {
	if len(args) == 0 {
		return gitOptions
	}
	if args[0] == "show" {
		args = commitsOnly(args)
	}
	return slices.Concat(gitOptions, args[:1], gitAfter[args[0]], args[1:])
}

// commitsOnly returns the arguments of git show with each object as a commit: of a file, it would
// show the content, whatever the options are.
func commitsOnly(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args[1:] {
		if !strings.HasPrefix(arg, "-") {
			args[i+1] = arg + "^{commit}"
		}
	}
	return args
}

// Env is added to the environment of guarded programs: git fetches nothing
// and asks nobody, go downloads and runs no other version of itself, and does not count its calls.
var Env = []string{
	"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_OPTIONAL_LOCKS=0",
	"GOTOOLCHAIN=local", "GOPROXY=off", "TEST_TELEMETRY_DIR=/dev/null/none",
}
