package safecmd

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// starters run others like wrappers, with words of another form, or make the shell run their
// arguments later.
var starters = strings.Fields("at batch bind bsdtar bunx compgen complete concurrently crontab cross-env dc dotenv dotenvx ed enable fc foreman gnuplot gtar guile hash honcho hyperfine julia m4 mail mailx mapfile mutt nodemon npx octave osascript overmind pipx pnpx readarray red rlwrap Rscript run-parts tclsh uvx watchexec " +
	"adb alacritty ansible foot gnome-terminal incus kitty konsole lxc machinectl nerdctl sshpass autossh vagrant wezterm x-terminal-emulator xdotool xterm")

// evaluators are commands of the shell that run a substitution in the index of a variable.
var evaluators = strings.Fields("getopts printf read test unset wait")

// isIndirect reports whether a command runs programs that its words do not name in
// their first place.
func isIndirect(words []string) bool {
	name, args := path.Base(words[0]), words[1:]
	switch {
	case name == "git":
		return gitRuns(args)
	case slices.Contains(evaluators, name):
		text := strings.Join(args, " ")
		return strings.Contains(text, "[") && strings.ContainsAny(text, "$`")
	case name == "make" || name == "gmake":
		return slices.ContainsFunc(args, isMakeText)
	case slices.Contains([]string{"lua", "luajit", "node", "perl", "php", "python", "python2", "python3", "R", "ruby"}, name):
		return len(args) == 0 || slices.ContainsFunc(args, isCode)
	}
	return runsArgument(name, args) || isWrapper(words[0]) || slices.Contains(starters, name) || strings.HasPrefix(name, "ld-") || name == "ld.so"
}

// programArgs maps programs to the arguments with which they run another, or a line.
var programArgs = argsOf(map[string]string{
	"emacs ex gvim nvim vi view vim vimdiff": `^(-[cfls]|-S|\+|--cmd|--e|--f|--l|--s)`,
	"less more most":                         `^\+`,
	"ack ag bat batcat delta":                `^--pager`,
	"man":                                    `^(-\w*[HP]|--html|--pager)`,
	"fzf sk":                                 `^--(be|bi|pre|with)|execute|become`,
	"rg":                                     `^--(pre(=|$)|ho)`,

	"mariadb mysql":  `\\!|(?i:\bsystem\b)|^-\w*p?ager|^--pager`,
	"psql":           `\\[!og]|(?i:\bprogram\b)`,
	"duckdb sqlite3": `(^|\n)\s*\.(sh|sy|once|output|excel|www)`,

	"rsync":             `^(-\w*e|--rsh)`,
	"scp sftp":          `^-\w*[DFSo]`,
	"cpio":              `^--rsh`,
	"zip":               `^(-\w*TT|--unz)`,
	"sort":              `^--co`,
	"split gsplit":      `^--f`,
	"install":           `^(-\w*s|--strip)`,
	"diff3 sdiff":       `^--diff-p`,
	"patch":             `^(-\w*e|--ed)`,
	"rename":            `.`, // may be the one that evaluates Perl
	"prename":           `.`,
	"aria2c":            `^--on-`,
	"wget":              `^--use-ask|askpass`,
	"yt-dlp":            `^--(exec|downloader|external)`,
	"tcpdump":           `^-\w*z`,
	"nmap":              `^--(scr|inter)|^-sC`,
	"ip":                `^exec$`,
	"gpg gpg2":          `^--(photo|exec|agent-p|dirmngr-p|pinentry)`,
	"helm":              `^--post-r`,
	"apt apt-get":       `^(-\w*[co]|--option|--config)`,
	"dpkg":              `invoke`,
	"svn":               `^--(diff|diff3|editor|config)-`,
	"hg":                `^--config`,
	"ctest":             `^(-S|--build-and|--scr)`,
	"cmake":             `^-[EP]$|^-D\w*(COMPILER|LAUNCHER|LINKER|PROGRAM|EXECUTABLE)`,
	"bazel bazelisk":    `^--(run_under|script_path)`,
	"mvn":               `exec[.:]`,
	"ld ld.gold ld.lld": `^--?plugin`,
	"rustc":             `linker`,

	"cargo":             `^(--config|-Z)`,
	"go":                `^(--?(exec|toolexec|vettool)|tool$)`,
	"bun npm pnpm yarn": `^(exec|x|dlx)$|script-shell|^--(shell|git|viewer|editor|browser|node-options)`, // run starts a script of the project
	"dotnet":            `^exec$`,
	"deno":              `^(eval|x)$`,
	"asdf conda fnm mamba micromamba nodenv pdm pyenv rbenv rustup volta doppler chamber aws-vault sops hatch": `^(run|exec|exec-env|exec-file)$`,

	"ctags": `^--_?\w*-?(opt|interactive)`,
}, map[string]lazyregexp.Regexp{"gsed": sedRuns, "sed": sedRuns})

// argsOf returns the patterns of several names each, by name, beside those in more.
func argsOf(patterns map[string]string, more map[string]lazyregexp.Regexp) map[string]lazyregexp.Regexp {
	for names, expr := range patterns {
		pattern := lazyregexp.New(expr)
		for _, name := range strings.Fields(names) {
			more[name] = pattern
		}
	}
	return more
}

// compilers matches the names of C compilers, and compilerRuns their arguments that name a program
// or a plug-in.
var (
	compilers    = lazyregexp.New(`^(.*-)?(cc|c\+\+|gcc|g\+\+|cpp|clang|clang\+\+|gfortran|nvcc|tcc)(-[0-9.]+)?$`)
	compilerRuns = lazyregexp.New(`^(-wrapper|-B|-ccbin|-fplugin|--?specs|-fuse-ld|--ld-path|-load|-Xclang|-Wl,.*plugin|@)`)
)

// runsArgument reports whether an argument of a program names another program.
func runsArgument(name string, args []string) bool {
	pattern, ok := programArgs[name]
	switch {
	case ok:
		return slices.ContainsFunc(args, pattern.MatchString)
	case compilers.MatchString(name):
		return slices.ContainsFunc(args, compilerRuns.MatchString)
	case slices.Contains(launchers, name):
		return slices.ContainsFunc(args, func(s string) bool { return slices.Contains([]string{"run", "exec", "x"}, s) })
	}
	return false
}

// sedRuns matches the command e of sed, the flag e of its command s, and a file with commands.
var sedRuns = lazyregexp.New(`(^|[^a-zA-Z\\.])\s*e(\s|$)|[/|#,@!:~%][gpiImM0-9]*e[gpiImM0-9]*\s*($|[;}\n])|^(-\w*f|--fi)`)

// isMakeText reports whether an argument of make can hold a line to run, or names a file
// with such lines.
func isMakeText(s string) bool {
	return strings.ContainsAny(s, "=$`") || short(s, "fE") || strings.HasPrefix(s, "--f") || strings.HasPrefix(s, "--ev")
}

// isCode reports whether an argument of an interpreter is an option for a program in the
// next one.
func isCode(s string) bool {
	return s == "-" || short(s, "ceEprRn") || strings.HasPrefix(s, "--e") || strings.HasPrefix(s, "--p") || strings.HasPrefix(s, "--r")
}

// gitRuns reports whether git runs a program that its arguments name.
func gitRuns(args []string) bool {
	return slices.ContainsFunc(args, func(s string) bool {
		return short(s, "cx") && strings.IndexAny(s, "cx") == 1 || slices.Contains([]string{"foreach", "run", "filter-branch"}, s) ||
			short(s, "O") || slices.ContainsFunc([]string{"--config-env", "--exec", "--ext", "--open-files-in-pager", "--upload-pack", "--receive-pack", "--tree-filter", "--sendmail-cmd", "--smtp-server", "--to-cmd", "--cc-cmd", "--header-cmd", "--browser", "ext::"}, func(o string) bool { return strings.HasPrefix(s, o) })
	})
}

// substitutes reports whether a piece of a line runs a line in it.
func substitutes(n syntax.Node) bool { return contains(n, isSubstitution) }

func isSubstitution(n syntax.Node) bool {
	switch n.(type) {
	case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
		return true
	}
	return false
}

// evaluates reports whether a construct computes with text that can name programs: the
// shell runs the $(...) in an index even if it is in quotes.
func evaluates(n syntax.Node) bool { return contains(n, isArithmetic) }

func isArithmetic(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.LetClause, *syntax.TestClause, *syntax.ArithmCmd, *syntax.CStyleLoop, *syntax.ArithmExp:
		return true
	case *syntax.Assign:
		return n.Name == nil || n.Index != nil
	}
	return false
}

func contains(n syntax.Node, test func(syntax.Node) bool) (found bool) {
	syntax.Walk(n, func(n syntax.Node) bool {
		found = found || n != nil && test(n)
		return !found
	})
	return found
}
