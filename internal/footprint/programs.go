package footprint

import (
	"slices"
	"strings"
)

// Reach is how much of a folder a line may run besides the files of its footprint.
type Reach int

// The reaches. A greater one includes the lesser.
const (
	Named    Reach = iota // nothing
	Sources               // the sources that a known program builds or tests
	Anything              // any file: the program is not known, or its text is in the line
)

// shells are the programs that run a file or a text as lines of the shell.
var shells = strings.Fields("ash bash csh dash fish ksh mksh rbash sh tcsh zsh")

// wrapperOptions maps programs that start the one which their arguments name to their options of
// one letter with a value, or "-" if they have none.
var wrapperOptions = map[string]string{
	"builtin": "-", "busybox": "-", "caffeinate": "t", "chronic": "-", "chrt": "TDP", "command": "-", "doas": "Cu", "env": "CSu", "exec": "a", "fakeroot": "-", "flock": "wE",
	"ionice": "cnpPu", "nice": "n", "nocorrect": "-", "noglob": "-", "nohup": "-", "setarch": "-", "setsid": "-", "stdbuf": "ioe", "sudo": "CghpRrTtUu", "taskset": "-",
	"time": "fo", "timeout": "ks", "toybox": "-", "unbuffer": "-", "xargs": "adEILnPs", "xvfb-run": "efnps",
}

// feeders maps programs to the arguments after which a command follows that gets more words.
var feeders = map[string][]string{
	"find": {"-exec", "-execdir", "-ok", "-okdir"}, "fd": {"-x", "-X", "--exec", "--exec-batch"}, "fdfind": {"-x", "-X", "--exec", "--exec-batch"},
}

// runners start an installed program that their arguments name.
var runners = strings.Fields("npx pnpx bunx uvx pipx cross-env dotenv")

// launchers maps programs to the first arguments behind which an installed program is named.
var launchers = map[string]string{
	"bundle": "exec", "bun": "x", "hatch": "run", "mise": "exec x", "npm": "exec x", "pdm": "run", "pipenv": "run", "pnpm": "dlx exec",
	"poetry": "run", "rye": "run", "uv": "run", "yarn": "dlx exec",
}

func launches(name string, args []word) bool {
	return len(args) > 0 && slices.Contains(strings.Fields(launchers[name]), args[0].text)
}

// plain lists programs, and commands of the shell, that run nothing of a folder: what their
// arguments name is read or written.
var plain = strings.Fields(`: [ [[ ag b2sum base32 base64 basename black break bzip2 bunzip2 cat cd cksum clang-format clear cmp column comm continue cp curl cut
	date dd df diff dirname dirs dprint du echo egrep exit expand export expr false fgrep file fold gofmt gofumpt goimports grep gron gunzip gzip hadolint head hexdump
	hostname iconv id install isort join jq jsonlint kill ktlint last ln local logger ls md5 md5sum mkdir mkfifo mktemp mv nl notify-send nproc od paste patch pgrep
	pkill popd printenv printf prettier ps pushd pwd read readlink readonly realpath return rev rg rm rmdir ruff rustfmt say seq set sha1sum sha224sum sha256sum
	sha384sum sha512sum shasum shellcheck shfmt shift shopt shuf sleep sort split stat strings stylua sum sync tac tail taplo tee terminal-notifier test touch tput tr
	tree true truncate tty type ulimit umask uname uniq unlink unset unxz unzip uptime w wait wc wget which who whoami xmllint xxd xz yamllint yes yq zcat zip zstd`)

// copiers are those of plain that may make the file which another command of the line runs.
var copiers = strings.Fields("bunzip2 cp curl dd gunzip install ln mv patch sort split tee truncate unxz unzip wget zcat")

// exact lists further programs that run only what their arguments name.
var exact = strings.Fields(`alias awk bg compgen complete declare disown docker docker-compose ed fg find fd fdfind gawk gh gsed hash jobs let mawk nawk podman
	podman-compose psql terraform tofu rsync rustc scp sed sftp sqlite3 ssh svn tar tsc typeset golangci-lint gpg gcc cc clang g++ c++`)

// awks run commands that their programs name.
var awks = strings.Fields("awk gawk mawk nawk")

// builders build or test the sources of a folder, whatever their arguments are.
var builders = strings.Fields(`ant astro ava bazel bazelisk buck buck2 c8 cabal cargo cmake coverage ctest cucumber cypress dotnet dune gradle gradlew grunt gulp jest
	karma lein lerna meson minitest mix mkdocs mocha msbuild mvn mvnw mypy next ng ninja nox nuxt nx nyc parcel pest phpunit playwright py.test pylint pytest rails rake rollup
	rspec sbt scons stack swift tap tox trunk tsup turbo vite vitest webpack zig flake8 eslint`)

// reachOf returns how much of a folder a known program runs with some arguments; Named for an
// unknown one.
func reachOf(name string, args []word) Reach {
	first := ""
	for _, w := range args {
		if !strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "+") {
			first = w.text
			break
		}
	}
	switch name {
	case "go":
		return goReach(first, args)
	case "cargo":
		return cargoReach(first)
	case "terraform", "tofu":
		return unless(slices.Contains(strings.Fields("fmt validate version show output"), first))
	case "java":
		return unless(slices.ContainsFunc(args, func(w word) bool { return w.text == "-jar" }))
	case "eslint":
		return Named // its configuration is a manifest
	}
	runs := slices.Contains([]string{"run", "exec", "generate", "start", "serve", "dev", "tool", "eval"}, first)
	switch {
	case slices.Contains([]string{"node", "deno", "bun"}, name) && (first == "test" || slices.ContainsFunc(args, func(w word) bool { return w.text == "--test" })):
		return Sources
	case slices.Contains(builders, name) && runs:
		return Anything
	case slices.Contains(builders, name):
		return Sources
	}
	return Named
}

func unless(named bool) Reach {
	if named {
		return Named
	}
	return Anything
}

func goReach(command string, args []word) Reach {
	switch {
	case slices.Contains([]string{"run", "generate", "tool", "fix"}, command):
		return Anything
	case command == "test", namesProgram(args):
		return Sources
	}
	return Named
}

func cargoReach(command string) Reach {
	switch {
	case slices.Contains(strings.Fields("add clean fetch fmt help init metadata new remove rm search tree update version"), command) || command == "":
		return Named
	case slices.Contains(strings.Fields("b bench build c check clippy d doc fix install nextest package publish t test vendor"), command):
		return Sources
	}
	return Anything // also an alias of the project
}

// namesProgram reports whether options of go name a program.
func namesProgram(args []word) bool {
	return slices.ContainsFunc(args, func(w word) bool {
		return strings.Contains(w.text, "-vettool") || strings.Contains(w.text, "-toolexec") || strings.Contains(w.text, "-overlay")
	})
}

// moduleReach returns how much of a folder a module of Python runs.
func moduleReach(mod string) Reach {
	switch {
	case slices.Contains(strings.Fields("alembic celery coverage django doctest flask gunicorn nox pytest sphinx tox unittest uvicorn"), mod):
		return Sources
	case slices.Contains(strings.Fields("cProfile ipykernel jupyter notebook pdb profile timeit trace"), mod):
		return Anything
	}
	return Named
}

// steers reports whether a variable tells programs what to run.
func steers(name string) bool {
	for _, end := range strings.Fields("PATH OPTS OPTIONS PRELOAD FLAGS EDITOR PAGER SHELL BROWSER _COMMAND _EXEC RC") {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	for _, begin := range strings.Fields("GIT_ LD_ DYLD_ PYTHON PERL RUBY BASH_ CARGO_ RUSTC npm_config_ NPM_CONFIG_ YARN_ MAKE BUNDLE_ GOCACHEPROG GOTOOL JAVA_TOOL") {
		if strings.HasPrefix(name, begin) {
			return name != "PYTHONUNBUFFERED" && name != "PYTHONDONTWRITEBYTECODE" && name != "PYTHONWARNINGS"
		}
	}
	return slices.Contains(strings.Fields("ENV IFS CC CXX CPP LD AR ZDOTDIR LESSOPEN HOME XDG_CONFIG_HOME"), name)
}
