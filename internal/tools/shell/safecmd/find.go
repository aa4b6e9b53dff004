package safecmd

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
func find(args []string) (reads, string) {
	uses := reads{names: true}
	for len(args) > 0 && slices.Contains([]string{"-H", "-L", "-P"}, args[0]) {
		args = args[1:]
	}
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") && !slices.Contains(findAlone, args[0]) {
		uses.files = append(uses.files, args[0])
		args = args[1:]
	}
	if len(uses.files) == 0 {
		uses.files = []string{"."}
	}
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case slices.Contains(findAlone, arg):
		case slices.Contains(findOne, arg) && i+1 < len(args):
			i++
		default:
			return uses, arg + " is not known to only test or print"
		}
	}
	return uses, ""
}
