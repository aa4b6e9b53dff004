package programs

import (
	"slices"
	"strings"
)

// GitCommand returns the arguments of git without the options before its command, such as -C
// with a folder.
func GitCommand(args []string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		valued := contains("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --exec-path --attr-source", args[0]) // a --exec-path without one only prints
		args = args[1:]
		if valued && len(args) > 0 {
			args = args[1:]
		}
	}
	return args
}

// gitDanger judges git, whose command follows its own options.
func gitDanger(args []string) string {
	args = GitCommand(args)
	if len(args) == 0 {
		return ""
	}
	if mayBeAny(args[0]) {
		return HiddenWords
	}
	rule := gitDangers[args[0]]
	if rule == nil {
		return ""
	}
	return rule(args[1:])
}

// gitDangers are the dangers of git by its commands.
var gitDangers = map[string]Danger{
	"branch":         option("it removes or overwrites a branch", "dDfMC", "--d*", "--forc*"),
	"checkout":       option(dropsChanges, "fB", "--*", ".", "--f*", "--ours*", "--theirs*", "--pa*"),
	"checkout-index": always("it overwrites files"),
	"clean": func(args []string) string {
		if slices.ContainsFunc(args, func(s string) bool { return Short(s, "n") || s == "--dry-run" }) && !slices.ContainsFunc(args, IsUnknown) {
			return ""
		}
		return "it deletes files permanently"
	},
	"commit": func(args []string) string {
		return having(withoutMessage(args), "it rewrites history", func(s string) bool { return strings.HasPrefix(s, "--am") })
	},
	"config":        gitConfig,
	"filter-branch": always("it rewrites history"), "filter-repo": always("it rewrites history"), "rebase": always("it rewrites history"), "replace": always("it rewrites history"),
	"gc": option("it deletes objects permanently", "", "--p*", "--aggressive*"), "prune": always("it deletes objects permanently"),
	"push": func(args []string) string {
		return having(args, "it rewrites or deletes a remote branch", func(s string) bool {
			return Short(s, "fd") || strings.HasPrefix(s, "+") || strings.HasPrefix(s, ":") || slices.ContainsFunc([]string{"--for", "--de", "--m", "--pru"}, func(o string) bool { return strings.HasPrefix(s, o) })
		})
	},
	"reflog": option("it deletes history permanently", "", "delete", "expire"),
	"reset":  option(dropsChanges, "", "--h*", "--me*", "--k*"),
	"restore": func(args []string) string {
		if slices.Contains(args, "--staged") && !slices.ContainsFunc(args, func(s string) bool { return Short(s, "W") || strings.HasPrefix(s, "--w") || IsUnknown(s) }) {
			return ""
		}
		return dropsChanges
	},
	"rm":         option("it removes files", "rf", "--f*"),
	"stash":      option("it removes stashed changes", "", "drop", "clear", "pop"),
	"submodule":  option("it removes files", "f", "deinit", "--f*"),
	"switch":     option(dropsChanges, "fC", "--f*", "--di*"),
	"tag":        option("it removes or overwrites a tag", "df", "--d*", "--forc*"),
	"update-ref": always("it changes where a branch is"),
	"worktree":   option("it removes a folder", "f", "remove", "prune", "--f*"),
}

// gitConfig judges git config, which only reads if it begins so: later words may be a value.
func gitConfig(args []string) string {
	first := slices.IndexFunc(args, func(s string) bool {
		return !slices.Contains(strings.Fields("--global --system --local --worktree --show-origin --show-scope --name-only --null -z"), s)
	})
	if first >= 0 && !slices.ContainsFunc(args, mayBeAny) {
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
	if first >= 0 && mayBeAny(args[first]) {
		return HiddenWords
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
	return slices.Contains(strings.Fields("alias include includeif pager"), section) || slices.Contains(GitKeys, key) ||
		key == "path" && slices.Contains(strings.Fields("browser difftool man mergetool"), section)
}

// GitKeys are the ends of settings of git whose values are programs.
var GitKeys = strings.Fields("alternaterefscommand askpass clean cmd command defaultcommand difffilter driver editor external fsmonitor gitproxy helper hookspath " +
	"packobjectshook pager process program receivepack smudge sshcommand templatedir textconv uploadpack vcs")

// withoutMessage returns the arguments of git commit without the message.
func withoutMessage(args []string) []string {
	var out []string
	for i, arg := range args {
		if i == 0 || args[i-1] != "--message" && args[i-1] != "--file" && !Short(args[i-1], "mF") {
			out = append(out, arg)
		}
	}
	return out
}
