package programs

import (
	"slices"
	"strings"
)

// The expressions of find that only test and print, by the number of their arguments.
var (
	findAlone = strings.Fields("! ( ) , -a -and -daystart -depth -empty -executable -false -follow -ls -mount -nogroup -noleaf -not -nouser -o -or -print -print0 -prune -quit -readable -true -writable -xdev")
	findOne   = strings.Fields("-amin -anewer -atime -cmin -cnewer -ctime -gid -group -ilname -iname -inum -ipath -iregex -iwholename -links -lname -maxdepth -mindepth -mmin -mtime -name -newer -path -perm -printf -regex -regextype -samefile -size -type -uid -user -wholename -xtype")
)

// find judges find, whose options come first, then folders, then an expression.
func find(all []string) (Reads, string) {
	e, args := expression{uses: Reads{Names: true}, simple: true}, all
	for len(args) > 0 && slices.Contains([]string{"-H", "-L", "-P"}, args[0]) {
		e.follows = e.follows || args[0] != "-P"
		args = args[1:]
	}
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") && !slices.Contains(findAlone, args[0]) {
		e.uses.Files = append(e.uses.Files, args[0])
		args = args[1:]
	}
	if len(e.uses.Files) == 0 {
		e.uses.Files = []string{"."}
	}
	e.follows = e.follows || slices.Contains(args, "-follow")
	if why := e.judge(args, len(all)-len(args)); why != "" {
		return e.uses, why
	}
	if !e.simple {
		e.uses.Only = ""
	}
	return e.uses, ""
}

// expression is an expression of find, as far as it was judged.
type expression struct {
	uses    Reads
	follows bool // links, to files elsewhere
	simple  bool // all tests hold for each file
	acted   bool // a file was printed or passed on
}

// judge judges args, which follow the given number of other arguments.
func (e *expression) judge(args []string, before int) string {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case slices.Contains(findAlone, arg):
			e.simple = e.simple && !slices.Contains(strings.Fields("! ( ) , -o -or -not"), arg)
			e.acted = e.acted || strings.HasPrefix(arg, "-print") || arg == "-ls"
		case slices.Contains(findOne, arg) && i+1 < len(args):
			i++
			e.acted = e.acted || arg == "-printf"
			if arg == "-name" && !e.acted && !strings.ContainsAny(args[i], `[\`) {
				e.uses.Only = args[i]
			}
		case arg == "-exec":
			words := untilEnd(args[i+1:])
			if why := e.exec(words); why != "" {
				return why
			}
			e.uses.Runs = append(e.uses.Runs, before+i+1)
			i += len(words) + 1
		default:
			return arg + " may do more than test or print"
		}
	}
	return ""
}

// exec judges the command behind -exec.
func (e *expression) exec(words []string) string {
	var found []string // as if these were found
	for _, dir := range e.uses.Files {
		found = append(found, dir+"/a", dir+"/b", dir+"/c")
	}
	inner, why := perFile(words, found...)
	if why == "" && e.follows {
		why = "it follows links to files elsewhere, which the program gets"
	}
	e.uses.Names, e.uses.Deep, e.uses.Hidden, e.uses.Links = e.uses.Names && inner.Names, true, true, true
	e.acted = true
	return why
}

// untilEnd returns the words of a command behind -exec, without its end.
func untilEnd(args []string) []string {
	for i, arg := range args {
		if arg == ";" || arg == "+" && i > 0 && args[i-1] == "{}" {
			return args[:i]
		}
	}
	return nil
}

// perFile judges a command that another program runs with the names of files in place of {},
// its last word.
func perFile(words []string, files ...string) (Reads, string) {
	if len(words) < 2 || words[len(words)-1] != "{}" || strings.Contains(strings.Join(words[:len(words)-1], "\x00"), "{}") {
		return Reads{}, "only a command with {} as its last word is known to be read-only"
	}
	p := Find(words[0])
	if p.Safe == nil || p.Exec != nil || p.Is.Has(Builtin) || p.Guard != nil || p.Is.Has(Starts|Direct) {
		return Reads{}, words[0] + " may change the files it gets"
	}
	uses, why := p.Safe(slices.Concat(words[1:len(words)-1], files))
	if why == "" && (uses.Deep || uses.Flat || slices.ContainsFunc(uses.Files, func(f string) bool { return !slices.Contains(files, f) })) {
		why = "it reads other files too"
	}
	if why != "" {
		why = words[0] + ": " + why
	}
	return uses, why
}
