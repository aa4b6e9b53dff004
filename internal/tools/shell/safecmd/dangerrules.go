package safecmd

import (
	"path"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/programs"
)

// Reasons for words that are not known.
const (
	hiddenWords = programs.HiddenWords
	runsUnknown = "it runs text that is only known when it runs"
)

func short(arg, letters string) bool { return programs.Short(arg, letters) }

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

// secretArgs returns which argument names a file that may contain passwords or keys, or "".
func (d *detector) secretArgs(name string, args []string) string {
	if p := programs.Find(name); p.Safe != nil {
		if uses, why := p.Safe(args); why == "" {
			args = uses.Files
			if uses.Names {
				return ""
			}
		}
	}
	for _, arg := range args {
		why, known := d.secrets[arg]
		if !known {
			why = secretWord(arg)
			d.secrets[arg] = why
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// unreadable replaces the text that is not known by a sign. It is made once: lines have thousands of words.
var unreadable = strings.NewReplacer(unknownText, "…", outsideText, "…")

// secretWord returns a reason if a word names a file that may contain passwords or keys, or may
// match one.
func secretWord(word string) string {
	if i := strings.LastIndexAny(word, "=@"); i >= 0 {
		word = word[i+1:]
	}
	word = unreadable.Replace(word)
	base := path.Base(word)
	switch {
	case word == "" || strings.ContainsAny(word, " \n"):
	case strings.HasSuffix(base, "_history") && strings.HasPrefix(base, "."):
		return "it uses the shell's history, " + word
	case strings.ContainsAny(base, "*?[") && permission.MayBeSecret(base):
		return word + " can match a file that may contain passwords or keys"
	case permission.Secret(word) && !isIdentifier(word):
		return word + " is a place that may contain passwords or keys"
	case strings.HasPrefix(word, "/proc/") && permission.NeverRead(word, "") != "", strings.HasPrefix(word, "/proc/self/"):
		return word + " exposes the memory and environment of a process"
	}
	return ""
}

// isIdentifier reports whether a word such as id_token is rather a name in a program than
// a file with a key.
func isIdentifier(word string) bool {
	return strings.HasPrefix(word, "id_") && !slices.ContainsFunc([]string{"id_rsa", "id_dsa", "id_ec", "id_ed", "id_x"}, func(kind string) bool { return strings.HasPrefix(word, kind) })
}
