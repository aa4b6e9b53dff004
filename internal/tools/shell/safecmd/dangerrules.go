package safecmd

import (
	"path"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/permission"
)

// Reasons for words that are not known.
const (
	hiddenWords = "some of its words are only known when it runs"
	runsUnknown = "it runs text that is only known when it runs"
)

// having returns why if test holds for an argument, and a warning if one may be anything.
func having(args []string, why string, test func(string) bool) string {
	if slices.ContainsFunc(args, test) {
		return why
	}
	if slices.ContainsFunc(args, mayBeOption) {
		return hiddenWords
	}
	return ""
}

// mayBeOption reports whether an argument may be any option.
func mayBeOption(arg string) bool {
	return strings.HasPrefix(arg, unknownText) || strings.HasPrefix(arg, "-") && unknown(arg)
}

// short reports whether arg is a group of options of one letter with one of letters.
func short(arg, letters string) bool {
	return len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.ContainsAny(arg[1:], letters)
}

func remove(args []string) string {
	return having(args, "it removes files for good", func(s string) bool {
		return short(s, "rRf") || strings.HasPrefix(s, "--r") || strings.HasPrefix(s, "--f") || strings.ContainsAny(s, "*?[") ||
			strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || strings.HasPrefix(s, "../")
	})
}

var runlevels = strings.Fields("0 1 2 3 4 5 6 s S u U q Q")

// runlevel judges init, which does nothing without the number of a state to enter.
func runlevel(args []string) string {
	if len(args) > 0 && (slices.Contains(runlevels, args[0]) || unknown(args[0])) {
		return "it stops the machine"
	}
	return ""
}

// local returns the name of a file in the project as it is relative to the project's
// folder, and other words as they are.
func (d *detector) local(word string) string {
	if path.IsAbs(word) && !unknown(word) {
		clean := path.Clean(word)
		for _, root := range d.roots {
			if rel, ok := strings.CutPrefix(clean, strings.TrimSuffix(root, "/")+"/"); ok {
				return rel
			}
		}
	}
	return word
}

func (d *detector) localAll(args []string) []string {
	if len(d.roots) == 0 {
		return args
	}
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = d.local(arg)
	}
	return out
}

func recursive(args []string) string {
	return having(args, "it changes who may use all files of a folder", func(s string) bool { return short(s, "R") || strings.HasPrefix(s, "--rec") })
}

// nobody are modes that leave nobody a right, beside 0.
var nobody = []string{"=", "a=", "ugo=", "-rwx", "a-rwx", "ugo-rwx"}

// chmod judges modes that leave nobody a right, or give a program the rights of its owner.
func chmod(args []string) string {
	for _, mode := range args {
		octal := mode != "" && strings.Trim(mode, "01234567") == ""
		switch {
		case octal && strings.Trim(mode, "0") == "", slices.Contains(nobody, mode):
			return "it leaves nobody a right to the file"
		case octal && len(mode) > 3 && mode[len(mode)-4] >= '4', setsUser(mode):
			return "it lets others run a program with the rights of its owner"
		}
	}
	return recursive(args)
}

// setUser matches a part of a mode in letters that sets the set-user-ID bit.
var setUser = lazyregexp.New(`^(|[ugoa]*[ua][ugoa]*)[-+=rwxXst]*[+=][rwxXt]*s[-+=rwxXst]*$`)

func setsUser(mode string) bool {
	return slices.ContainsFunc(strings.Split(mode, ","), setUser.MatchString)
}

// linking judges ln: later writes to a link change the file behind it.
func linking(args []string) string {
	names := operands(args)
	if len(names) > 1 && !slices.ContainsFunc(args, func(s string) bool { return short(s, "t") || strings.HasPrefix(s, "--t") }) {
		names = names[:len(names)-1] // the last is the link, or its folder
	}
	for _, a := range names {
		if path.IsAbs(a) || strings.HasPrefix(a, "~") {
			return "it makes a name stand for " + a + ", which may be outside of the folder"
		}
	}
	return copying(args)
}

// operands returns the arguments that are no options.
func operands(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(s string) bool { return strings.HasPrefix(s, "-") })
}

// copying judges programs that write the file that they name last, or all of them.
func copying(args []string) string {
	files := operands(args)
	if slices.ContainsFunc(files, func(s string) bool {
		return s == "/dev/null" || s == "/dev/zero" || s == "/dev/random" || s == "/dev/urandom"
	}) && len(files) > 1 {
		return "it empties or overwrites a file"
	}
	if slices.ContainsFunc(args, unknown) {
		return hiddenWords
	}
	if len(files) > 0 {
		return target(files[len(files)-1])
	}
	return ""
}

func kill(args []string) string {
	return having(args, "it can end all processes", func(s string) bool { return s == "-1" || s == "0" || s == "-0" }) // -1 as a signal is rare
}

// gitDanger judges git, whose command follows its own options.
func gitDanger(args []string) string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		valued := slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix"}, args[0])
		args = args[1:]
		if valued && len(args) > 0 {
			args = args[1:]
		}
	}
	if len(args) == 0 {
		return ""
	}
	if unknown(args[0]) {
		return hiddenWords
	}
	rule := gitDangers[args[0]]
	if rule == nil {
		return ""
	}
	return rule(args[1:])
}

// option returns a danger for options: letters of short ones, beginnings of long ones, and
// whole words.
func option(why, letters string, words ...string) danger {
	return func(args []string) string {
		return having(args, why, func(s string) bool {
			return letters != "" && short(s, letters) || slices.ContainsFunc(words, func(w string) bool {
				return s == w || strings.HasPrefix(w, "--") && strings.HasPrefix(s, w)
			})
		})
	}
}

// gitDangers are the dangers of git by its commands.
var gitDangers = map[string]danger{
	"branch":         option("it removes or overwrites a branch", "dDfMC", "--d", "--forc"),
	"checkout":       option(dropsChanges, "fB", "--", ".", "--f", "--ours", "--theirs", "--pa"),
	"checkout-index": always("it overwrites files"),
	"clean": func(args []string) string {
		if slices.ContainsFunc(args, func(s string) bool { return short(s, "n") || s == "--dry-run" }) && !slices.ContainsFunc(args, unknown) {
			return ""
		}
		return "it removes files for good"
	},
	"commit": func(args []string) string {
		return having(withoutMessage(args), "it rewrites history", func(s string) bool { return strings.HasPrefix(s, "--am") })
	},
	"config":        gitConfig,
	"filter-branch": always("it rewrites history"), "filter-repo": always("it rewrites history"), "rebase": always("it rewrites history"), "replace": always("it rewrites history"),
	"gc": option("it removes objects for good", "", "--p", "--aggressive"), "prune": always("it removes objects for good"),
	"push": func(args []string) string {
		return having(args, "it changes a remote repository for good", func(s string) bool {
			return short(s, "fd") || strings.HasPrefix(s, "+") || strings.HasPrefix(s, ":") || slices.ContainsFunc([]string{"--for", "--de", "--m", "--pru"}, func(o string) bool { return strings.HasPrefix(s, o) })
		})
	},
	"reflog": option("it removes history for good", "", "delete", "expire"),
	"reset":  option(dropsChanges, "", "--h", "--me", "--k"),
	"restore": func(args []string) string {
		if slices.Contains(args, "--staged") && !slices.ContainsFunc(args, func(s string) bool { return short(s, "W") || strings.HasPrefix(s, "--w") || unknown(s) }) {
			return ""
		}
		return dropsChanges
	},
	"rm":         option("it removes files", "rf", "--f"),
	"stash":      option("it removes stashed changes", "", "drop", "clear", "pop"),
	"submodule":  option("it removes files", "f", "deinit", "--f"),
	"switch":     option(dropsChanges, "fC", "--f", "--di"),
	"tag":        option("it removes or overwrites a tag", "df", "--d", "--forc"),
	"update-ref": always("it changes where a branch is"),
	"worktree":   option("it removes a folder", "f", "remove", "prune", "--f"),
}

// gitConfig judges git config, which only reads if it begins so: later words may be a value.
func gitConfig(args []string) string {
	first := slices.IndexFunc(args, func(s string) bool {
		return !slices.Contains(strings.Fields("--global --system --local --worktree --show-origin --show-scope --name-only --null -z"), s)
	})
	if first >= 0 && !slices.ContainsFunc(args, unknown) {
		s := args[first]
		if s == "get" || s == "list" || s == "-l" || s == "--list" || strings.HasPrefix(s, "--get") {
			return ""
		}
		if first == len(args)-1 && !strings.HasPrefix(s, "-") {
			return "" // a name without a value
		}
	}
	if why := having(args, "it changes git's settings for all repositories", func(s string) bool {
		return strings.HasPrefix(s, "--gl") || strings.HasPrefix(s, "--sy") // git takes the beginning of an option
	}); why != "" {
		return why
	}
	return having(args, "it changes which programs git runs", namesProgram)
}

// namesProgram reports whether s is a setting of git whose value is a program that later
// commands run, or a file of such settings.
func namesProgram(s string) bool {
	s = strings.ToLower(s)
	section, _, found := strings.Cut(s, ".")
	if !found || strings.ContainsAny(section, "/@: ") {
		return false // rather a value
	}
	key := s[strings.LastIndex(s, ".")+1:]
	return slices.Contains(strings.Fields("alias include includeif pager"), section) || slices.Contains(programKeys, key) ||
		key == "path" && slices.Contains(strings.Fields("browser difftool man mergetool"), section)
}

// programKeys are the ends of settings of git whose values are programs.
var programKeys = strings.Fields("alternaterefscommand askpass clean cmd command difffilter driver editor external fsmonitor gitproxy helper hookspath " +
	"packobjectshook pager process program receivepack smudge sshcommand templatedir textconv uploadpack vcs")

// withoutMessage returns the arguments of git commit without the message.
func withoutMessage(args []string) []string {
	var out []string
	for i, arg := range args {
		if i == 0 || args[i-1] != "--message" && args[i-1] != "--file" && !short(args[i-1], "mF") {
			out = append(out, arg)
		}
	}
	return out
}

// secretArgs returns which argument names a file that usually holds keys, or "".
func secretArgs(name string, args []string) string {
	if rule, ok := ruleOf(name); ok {
		if uses, why := rule(args); why == "" {
			args = uses.files
			if uses.names {
				return ""
			}
		}
	}
	for _, arg := range args {
		if why := secretWord(arg); why != "" {
			return why
		}
	}
	return ""
}

// secretWord returns a reason if a word names a file that usually holds keys, or may
// match one.
func secretWord(word string) string {
	if i := strings.LastIndexAny(word, "=@"); i >= 0 {
		word = word[i+1:]
	}
	base := path.Base(word)
	switch {
	case word == "" || strings.ContainsAny(word, " \n") || isExample(base):
	case strings.HasSuffix(base, "_history") && strings.HasPrefix(base, "."):
		return "it uses the shell's history, " + word
	case strings.ContainsAny(base, "*?[") && slices.ContainsFunc(secretNames, func(name string) bool { return matches(base, name) }):
		return word + " can match a file that usually holds keys"
	case permission.Secret(word) && !isIdentifier(word):
		return word + " is a place that usually holds keys"
	case strings.HasPrefix(word, "/proc/") && permission.NeverRead(word, "") != "", strings.HasPrefix(word, "/proc/self/"):
		return word + " exposes the memory and environment of a process"
	}
	return ""
}

// isExample reports whether a file is a template for one with keys.
func isExample(base string) bool {
	return slices.ContainsFunc([]string{".example", ".sample", ".template", ".dist"}, func(end string) bool { return strings.HasSuffix(base, end) })
}

// isIdentifier reports whether a word such as id_token is rather a name in a program than
// a file with a key.
func isIdentifier(word string) bool {
	return strings.HasPrefix(word, "id_") && !slices.ContainsFunc([]string{"id_rsa", "id_dsa", "id_ec", "id_ed", "id_x"}, func(kind string) bool { return strings.HasPrefix(word, kind) })
}

// secretNames are examples of names for patterns.
var secretNames = []string{".env", ".env.local", "id_rsa", "id_ed25519", ".netrc", ".npmrc", ".git-credentials", "credentials", "server.pem", "server.key"}

// matches reports whether a pattern that is about some names matches name.
func matches(pattern, name string) bool {
	if strings.HasPrefix(pattern, "*") && strings.Trim(pattern, "*?.") == "" || len(strings.Trim(pattern, "*?[]")) < 2 {
		return false
	}
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}
