package programs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// Reasons for commands whose effect is not in a folder of this machine.
const (
	removesElsewhere = "it removes resources that are not files here, such as those of a cloud or a cluster"
	publishes        = "it publishes a version, which is hard to undo"
	dropsData        = "it removes data from a database"
	dropsChanges     = "it drops changes that were not committed"
	removesPrograms  = "it removes programs"
)

// Danger returns why a program with these arguments is dangerous, or "". An argument that
// holds Unknown may be anything.
type Danger func(args []string) string

// Unknown takes the place of text that is only known when a line runs.
const Unknown = "\x00"

// Outside takes the place of text that comes from outside of a line, such as the value of a
// variable that it does not set: the words of a command of a program may be any, but nobody hides
// some in it.
const Outside = "\x01"

// mayBeAny reports whether a word may be any, or end so.
func mayBeAny(s string) bool { return strings.ContainsAny(s, Unknown+Outside) }

// IsUnknown reports whether text has a part that is only known when a line runs.
func IsUnknown(s string) bool { return strings.Contains(s, Unknown) }

// HiddenWords is the reason for words that are not known.
const HiddenWords = "some of its words are only known when it runs"

// always is the danger of a program whatever its arguments are.
func always(why string) Danger { return func([]string) string { return why } }

// having returns why if test holds for an argument, and a warning if one may be anything.
func having(args []string, why string, test func(string) bool) string {
	if slices.ContainsFunc(args, test) {
		return why
	}
	if slices.ContainsFunc(args, mayBeOption) {
		return HiddenWords
	}
	return ""
}

// mayBeOption reports whether an argument may be any option.
func mayBeOption(arg string) bool {
	return strings.HasPrefix(arg, Unknown) || strings.HasPrefix(arg, "-") && IsUnknown(arg)
}

// Short reports whether arg is a group of options of one letter with one of letters.
func Short(arg, letters string) bool {
	return len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.ContainsAny(arg[1:], letters)
}

func remove(args []string) string {
	return having(args, "it deletes files permanently", func(s string) bool {
		return Short(s, "rRf") || strings.HasPrefix(s, "--r") || strings.HasPrefix(s, "--f") || strings.ContainsAny(s, "*?[") ||
			strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || strings.HasPrefix(s, "../")
	})
}

var runlevels = strings.Fields("0 1 2 3 4 5 6 s S u U q Q")

// runlevel judges init, which does nothing without the number of a state to enter.
func runlevel(args []string) string {
	if len(args) > 0 && (slices.Contains(runlevels, args[0]) || IsUnknown(args[0])) {
		return "it stops the machine"
	}
	return ""
}

func recursive(args []string) string {
	return having(args, "it changes who may use all files of a folder", func(s string) bool { return Short(s, "R") || strings.HasPrefix(s, "--rec") })
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

// option returns a danger for options of one letter, and for words that may begin or end
// with *, for any text.
func option(why, letters string, words ...string) Danger {
	return func(args []string) string {
		return having(args, why, func(s string) bool {
			return letters != "" && Short(s, letters) || slices.ContainsFunc(words, func(w string) bool { return fits(w, s) })
		})
	}
}

var (
	stops      = always("it stops the machine")
	endsByName = always("it ends processes by their name")
)

func crontab(args []string) string {
	if slices.Equal(args, []string{"-l"}) {
		return ""
	}
	return "it sets up something that runs later"
}

func history(args []string) string {
	return having(args, "it removes the shell's history", func(s string) bool { return strings.Trim(s, "-0123456789") != "" })
}

// Dangers of several programs.
var (
	forge          = naming(removesElsewhere, "delete", "DELETE", "-XDELETE", "--method=DELETE")
	infrastructure = naming(removesElsewhere, "destroy", "-destroy*", "--destroy*", "-auto-approve*", "--auto-approve*")
	registry       = naming(publishes, "publish", "unpublish", "deprecate")
	schema         = naming(dropsData, "db:drop*", "db:purge*", "db:reset*", "db:truncate*")
)

// naming returns a danger for a program that is given one of some words. A word may begin or
// end with *, for any text.
func naming(why string, words ...string) Danger {
	return func(args []string) string {
		named := 0 // words that are known, and no options: commands of the program come first
		for i, arg := range args {
			if slices.ContainsFunc(words, func(w string) bool { return fits(w, arg) }) {
				return why
			}
			value := i > 0 && strings.HasPrefix(args[i-1], "-") && !IsUnknown(arg) // of an option
			if i < 3 && named < 2 && !value && slices.ContainsFunc(words, func(w string) bool { return mayFit(w, arg) }) {
				return HiddenWords
			}
			if !mayBeAny(arg) && !strings.HasPrefix(arg, "-") {
				named++
			}
		}
		return ""
	}
}

// mayFit reports whether an argument with unknown text may be one for a word of naming.
func mayFit(word, arg string) bool {
	if strings.Contains(arg, Outside) && strings.Contains(arg, "/") {
		return false // a path, or the name of an image
	}
	arg = strings.ReplaceAll(arg, Outside, Unknown)
	start, rest, ok := strings.Cut(arg, Unknown)
	end := rest[strings.LastIndex(rest, Unknown)+1:]
	if !ok {
		return false
	}
	known, prefix := strings.CutSuffix(word, "*")
	known, suffix := strings.CutPrefix(known, "*")
	begins := suffix || strings.HasPrefix(known, start) || prefix && strings.HasPrefix(start, known)
	ends := prefix || strings.HasSuffix(known, end) || suffix && strings.HasSuffix(end, known)
	return begins && ends
}

// fits reports whether a word of naming is for an argument.
func fits(word, arg string) bool {
	if start, ok := strings.CutSuffix(word, "*"); ok {
		return strings.HasPrefix(arg, start)
	}
	if end, ok := strings.CutPrefix(word, "*"); ok {
		return strings.HasSuffix(arg, end)
	}
	return word == arg
}

// containers judges docker and its like.
func containers(args []string) string {
	if slices.Contains(args, "down") && slices.ContainsFunc(args, func(s string) bool { return Short(s, "v") || s == "--volumes" }) {
		return removesElsewhere
	}
	if i := slices.Index(args, "volume"); i >= 0 && i+1 < len(args) && args[i+1] == "rm" {
		return removesElsewhere
	}
	if names := slices.DeleteFunc(slices.Clone(args), func(s string) bool { return strings.HasPrefix(s, "-") }); len(names) > 0 &&
		!mayBeAny(names[0]) && !contains("builder buildx compose container image manifest network system volume", names[0]) {
		args = slices.DeleteFunc(slices.Clone(args), func(s string) bool { return strings.Contains(s, Outside) }) // no commands
	}
	return cmp.Or(naming(removesElsewhere, "prune")(args), naming(publishes, "push")(args))
}

// drops matches statements that remove data.
var drops = lazyregexp.New(`(?i)\b(drop\s+(database|schema|table|user|view|index|collection|role)|truncate\s|delete\s+from|flushall|flushdb|dropDatabase|deleteMany|deleteOne|remove\s*\()|\.drop\(`)

// statement judges clients of databases by the statements in their arguments.
func statement(args []string) string {
	if slices.ContainsFunc(args, drops.MatchString) {
		return dropsData
	}
	if slices.ContainsFunc(args, IsUnknown) {
		return HiddenWords
	}
	return ""
}
