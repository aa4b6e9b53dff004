package safecmd

import (
	"path"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// danger returns why a program with these arguments is dangerous, or "". An argument that
// holds unknownText may be anything.
type danger func(args []string) string

// always is the danger of a program whatever its arguments are.
func always(why string) danger { return func([]string) string { return why } }

// dangers maps programs to their dangers. Programs that start others are in wrappers.
var dangers = map[string]danger{
	"at": always("it runs something later"), "batch": always("it runs something later"),
	"chattr": always("it changes what may be done with files"),
	"chgrp":  recursive, "chmod": chmod, "chown": recursive, "setfacl": recursive,
	"cp": copying, "mv": copying, "install": copying, "ln": linking, "tee": copying,
	"crontab": func(args []string) string {
		if slices.Equal(args, []string{"-l"}) {
			return ""
		}
		return "it sets up something that runs later"
	},
	"dd": func(args []string) string {
		return having(args, "it can overwrite files and disks", func(s string) bool { return strings.HasPrefix(s, "of=") })
	},
	"doas": always("it runs with the rights of another user"), "pkexec": always("it runs with the rights of another user"),
	"runuser": always("it runs with the rights of another user"), "su": always("it runs with the rights of another user"), "sudo": always("it runs with the rights of another user"),
	"find": func(args []string) string {
		return having(args, "it removes what it finds", func(s string) bool { return s == "-delete" })
	},
	"git":  gitDanger,
	"halt": always("it stops the machine"), "poweroff": always("it stops the machine"), "reboot": always("it stops the machine"), "shutdown": always("it stops the machine"), "init": runlevel, "telinit": runlevel,
	"history": func(args []string) string {
		return having(args, "it removes the shell's history", func(s string) bool { return s != "" && strings.Trim(s, "-0123456789") != "" })
	},
	"insmod": always("it changes the system"), "iptables": always("it changes the system"), "launchctl": always("it changes the system"), "modprobe": always("it changes the system"), "mount": always("it changes the system"),
	"nft": always("it changes the system"), "passwd": always("it changes the system"), "sysctl": always("it changes the system"), "systemctl": always("it changes the system"), "umount": always("it changes the system"),
	"useradd": always("it changes the system"), "userdel": always("it changes the system"), "usermod": always("it changes the system"), "visudo": always("it changes the system"), "chpasswd": always("it changes the system"),
	"kill": kill, "killall": always("it ends processes by their name"), "pkill": always("it ends processes by their name"),
	"fdisk": always("it destroys what is on a disk"), "mkswap": always("it destroys what is on a disk"), "parted": always("it destroys what is on a disk"), "sfdisk": always("it destroys what is on a disk"), "wipefs": always("it destroys what is on a disk"), "blkdiscard": always("it destroys what is on a disk"),
	"rm": remove, "rmdir": func(args []string) string {
		return having(args, "it removes several folders", func(s string) bool { return s == "-p" || strings.HasPrefix(s, "--p") })
	},
	"rsync": func(args []string) string {
		return having(args, "it removes files that are missing elsewhere", func(s string) bool { return strings.HasPrefix(s, "--del") || strings.HasPrefix(s, "--remove") })
	},
	"shred": always("it destroys the content of files"), "truncate": always("it cuts the content off files"), "unlink": always("it removes a file"), "srm": always("it removes files"),
	"unset": func(args []string) string {
		return having(args, "it hides what the shell did", func(s string) bool { return strings.HasPrefix(s, "HIST") })
	},
}

// wrappers start the program that their arguments name, or run an argument as a line.
var wrappers = strings.Fields("aa-exec alias ash bash busybox builtin bwrap caffeinate capsh ccache cgexec choom chpst chroot chrt command coproc csh dash dbus-run-session docker doas entr env eval exec expect fakeroot find fish firejail flock gdb git ionice ksh kubectl linux32 linux64 lldb ltrace " +
	"daemonize distrobox dumb-init eatmydata envdir faketime fakechroot flatpak-spawn gosu heaptrack nawk proxychains proxychains4 rr run0 runcon sem setuidgid softlimit su-exec systemd-cat systemd-nspawn tini torify torsocks uclampset unbuffer " +
	"nice nohup npx nsenter numactl parallel perf perl podman prlimit proot pwsh python python3 ruby node php awk gawk mawk runuser script screen setarch setpriv setsid sg sh source ssh-agent start-stop-daemon stdbuf strace su sudo systemd-inhibit systemd-run tar taskset tcsh time timeout tmux toybox " +
	"trap unshare valgrind watch xargs xvfb-run zsh ssh . ! { if then do else while until for case")

// launchers may start a program that their arguments name, beside their own work.
var launchers = strings.Fields("bundle bunx cross-env direnv dotenv fd fdfind hyperfine mise nix npm op pipenv pipx pnpm pnpx poetry rye uv uvx yarn")

// packaging are the first words of launchers behind which only packages are named.
var packaging = map[string]string{
	"npm": "add i info install remove rm uninstall view", "pnpm": "add i install remove rm why", "poetry": "add remove", "uv": "add remove", "yarn": "add info remove why",
}

// namesPackages reports whether the arguments of a launcher are a word of packaging and names of
// packages, some of which are those of programs: yarn add mount.
func namesPackages(name string, args []string) bool {
	if len(args) == 0 || !slices.Contains(strings.Fields(packaging[name]), args[0]) {
		return false
	}
	for _, a := range args[1:] {
		option := slices.Contains([]string{"-D", "-E", "--dev", "--exact", "--save-dev"}, a)
		odd := strings.ContainsFunc(a, func(r rune) bool {
			return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("@/._^~-", r))
		})
		if !option && (odd || strings.HasPrefix(a, "-")) {
			return false
		}
	}
	return true
}

// executing are the programs that start a program behind one of some options, for each file.
var executing = map[string][]string{"find": {"-exec", "-execdir", "-ok", "-okdir"}, "fd": fdExec, "fdfind": fdExec}

var fdExec = []string{"-x", "-X", "--exec", "--exec-batch"}

// prefixes are wrappers whose first word is a program.
var prefixes = strings.Fields("! builtin busybox caffeinate command doas env exec fakeroot nice nohup setsid stdbuf sudo time timeout toybox")

// runners are wrappers whose words are run as lines.
var runners = strings.Fields("alias ash bash csh dash fish ksh parallel script sh ssh su tcsh trap watch zsh")

func isPrefix(word string) bool { return slices.Contains(prefixes, path.Base(word)) || isOdd(word) }

func isWrapper(word string) bool { return slices.Contains(wrappers, path.Base(word)) || isOdd(word) }

func isLauncher(word string) bool { return slices.Contains(launchers, path.Base(word)) }

// isOdd reports whether a word in the place of a program can hardly be one.
func isOdd(word string) bool { return strings.HasSuffix(word, "/") || strings.Contains(word, "=") }

// dangerOf returns the danger of the program with a name, nil if none is known.
func dangerOf(name string) danger {
	if rule := dangers[name]; rule != nil {
		return rule
	}
	return services[name]
}

// program returns why the program args[0] with its arguments is dangerous, or "".
func (d *detector) program(args []string) string {
	if d.depth == 0 {
		return d.examine(args)
	}
	key := tail{&args[0], len(args), d.depth, d.more}
	why, known := d.judged[key]
	if !known {
		if *d.left -= len(args); *d.left < 0 {
			return tooDeep
		}
		why = d.examine(args)
		d.judged[key] = why
	}
	return why
}

// tail is the end of the words of a command, from a word that may name a program. Wrappers in
// wrappers have the same ends again and again.
type tail struct {
	first *string
	words int
	depth int
	more  bool
}

// examine is program without its memory.
func (d *detector) examine(args []string) string {
	name := path.Base(args[0])
	if strings.HasPrefix(name, "mkfs") {
		return "it destroys what is on a disk"
	}
	if rule := dangerOf(name); rule != nil {
		if why := rule(d.localAll(d.given(args[1:]))); why != "" {
			return why
		}
	}
	if (isWrapper(args[0]) || isLauncher(args[0])) && !namesPackages(name, args[1:]) {
		if why := d.wrapped(name, args[1:]); why != "" {
			return why
		}
	}
	return secretArgs(name, args[1:])
}

// given returns the arguments that a program gets.
func (d *detector) given(args []string) []string {
	if !d.more {
		return args
	}
	return append(slices.Clone(args), unknownText)
}

// wrapped judges the programs and lines that a program starts.
func (d *detector) wrapped(name string, args []string) string {
	if name == "eval" {
		return d.script(strings.Join(d.given(args), " "))
	}
	if why := d.started(name, args); why != "" {
		return why
	}
	if slices.Contains(direct, name) && !(name == "env" && slices.ContainsFunc(args, splits)) {
		return "" // it runs its arguments as they are
	}
	return d.texts(name, d.given(args))
}

// started judges the programs that the words of a program name.
func (d *detector) started(name string, args []string) string {
	exec := executing[name]
	inner := *d
	inner.depth++
	inner.more = d.more || name == "xargs" || name == "parallel" || exec != nil // it adds words of its own
	if name == "git" || inner.depth > maxDepth {
		return ""
	}
	for i := range min(len(args), maxWords) {
		if !follows(args, i, exec) {
			continue
		}
		if args[i] != name && starts(args[i]) {
			if why := inner.program(args[i:]); why != "" {
				return why
			}
		}
		if slices.Contains(direct, name) && !isWrapper(args[i]) && isProgram(args, i) {
			break
		}
	}
	return ""
}

// follows reports whether the word i follows one of some options. Without options every word does.
func follows(args []string, i int, options []string) bool {
	return options == nil || i > 0 && slices.Contains(options, args[i-1])
}

// direct are wrappers that run the first word that is no option of theirs, with the words
// behind it as they are.
var direct = strings.Fields("! builtin caffeinate command doas env exec fakeroot fd fdfind find ionice nice nohup setsid stdbuf sudo time timeout xargs")

// valueless matches options of wrappers that take no value of their own.
var valueless = lazyregexp.New(`^-(-|[0irtxp]|[nLPs][0-9]+|-null|-no-run-if-empty|.*=.*)$`)

// isProgram reports whether the word i of a direct wrapper can only be the program.
func isProgram(args []string, i int) bool {
	word := args[i]
	if strings.HasPrefix(word, "-") || strings.Contains(word, "=") || strings.Trim(word, "0123456789.smhd") == "" || unknown(word) {
		return false
	}
	return i == 0 || !strings.HasPrefix(args[i-1], "-") || valueless.MatchString(args[i-1])
}

// splits reports whether an option of env makes several words of one.
func splits(arg string) bool { return short(arg, "S") || strings.HasPrefix(arg, "--s") }

// starts reports whether a word among others can name a program that is dangerous, or
// starts one.
func starts(word string) bool {
	base := path.Base(word)
	return dangerOf(base) != nil || isWrapper(word) || isLauncher(word) || strings.HasPrefix(base, "mkfs")
}

// texts judges the arguments that a program runs as lines of their own.
func (d *detector) texts(name string, args []string) string {
	for i, arg := range args {
		option := ""
		if i > 0 {
			option = args[i-1]
		}
		if why := d.textOf(name, option, arg); why != "" {
			return why
		}
	}
	return ""
}

// textOf judges an argument, which follows option.
func (d *detector) textOf(name, option, arg string) string {
	runs := slices.Contains(runners, name)
	if unknown(arg) {
		if runs || isInterpreter(name) || name == "source" || name == "." {
			return runsUnknown
		}
		return ""
	}
	switch {
	case slices.Contains(languages, name):
		if isCodeOf(name, option, arg) {
			return d.code(arg)
		}
		return ""
	case name == "git":
		if _, command, ok := strings.Cut(arg, "=!"); ok {
			return d.script(command)
		}
		return ""
	case name == "trap" && option == "", isInterpreter(name) && short(option, "c"):
		return d.script(arg)
	case runs || strings.ContainsAny(arg, " \t\n;|&<>"):
		return d.nested(assigned(arg))
	}
	return ""
}

// assigned returns the value of an argument such as --to-command=VALUE or name=VALUE, or
// the argument.
func assigned(arg string) string {
	name, value, ok := strings.Cut(arg, "=")
	if ok && !strings.ContainsAny(name, " \t\n;|&<>") {
		return assigned(value)
	}
	return arg
}
