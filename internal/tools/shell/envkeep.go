package shell

import (
	"runtime"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// Kept lists the variables that a command inherits, by purpose. A name that ends in *
// covers all that begin so, except those that look like secrets or hold an address with a
// password.
func Kept() []KeptGroup {
	return []KeptGroup{
		{"the person and the system", "PATH HOME USER LOGNAME SHELL PWD SHLVL HOSTNAME HOSTTYPE OSTYPE MACHTYPE TZ TZDIR LANG LANGUAGE LC_* TMPDIR TMP TEMP MANPATH INFOPATH MALLOC_*"},
		{"the terminal", "COLORTERM COLUMNS LINES TERM_PROGRAM TERM_PROGRAM_VERSION TERMINFO TERMINFO_DIRS NO_COLOR CLICOLOR COLORFGBG LS_COLORS LSCOLORS GREP_COLORS LESS LESSCHARSET TMUX TMUX_PANE STY"},
		{"the desktop", "DISPLAY WAYLAND_DISPLAY XAUTHORITY XDG_* DBUS_SESSION_BUS_ADDRESS DESKTOP_SESSION BROWSER WSL_* WSLENV QT_* GTK_* SDL_* LIBGL_* MESA_* VK_*"},
		{"SSH, GnuPG and commits", "SSH_AUTH_SOCK SSH_AGENT_PID SSH_CONNECTION SSH_CLIENT SSH_TTY GPG_TTY GNUPGHOME GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE"},
		{"the network", "HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy ftp_proxy all_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE CURL_HOME"},
		{"continuous integration", "CI CI_* CONTINUOUS_INTEGRATION BUILD_NUMBER BUILD_ID TF_BUILD GITHUB_* GITLAB_* RUNNER_* JENKINS_* BUILDKITE* CIRCLE* TRAVIS*"},
		{"make, compilers and sanitizers", "MAKEFLAGS MAKELEVEL MFLAGS CC CXX CPP LD AR AS NM FC RANLIB STRIP OBJCOPY OBJDUMP CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LDLIBS FFLAGS ARCH CROSS_COMPILE " +
			"CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH PKG_CONFIG* ACLOCAL_PATH CMAKE_* CTEST_* NINJA* MESON* BAZEL* CCACHE_* SCCACHE_* DISTCC_* VCPKG_* CONAN_* SDKROOT DEVELOPER_DIR " +
			"MACOSX_DEPLOYMENT_TARGET XCODE* EMSDK* CUDA* NVCC* ROCM* OMP_* MKL_* ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS LSAN_OPTIONS MSAN_OPTIONS DESTDIR PREFIX DEBUG VERBOSE V SOURCE_DATE_EPOCH"},
		{"Go", "GO111MODULE GO386 GOAMD64 GOARCH GOARM GOARM64 GOBIN GOCACHE GOCACHEPROG GOCOVERDIR GODEBUG GOENV GOEXPERIMENT GOFIPS140 GOFLAGS GOGC GOINSECURE GOLANGCI_LINT_CACHE GOMAXPROCS GOMEMLIMIT " +
			"GOMIPS GOMIPS64 GOMODCACHE GONOPROXY GONOSUMDB GOOS GOPATH GOPPC64 GOPRIVATE GOPROXY GORACE GORISCV64 GOROOT GOSUMDB GOTELEMETRY GOTMPDIR GOTOOLCHAIN GOTRACEBACK GOVCS GOWASM GOWORK CGO_*"},
		{"JavaScript", "NODE_* NVM_* FNM_* VOLTA_* N_PREFIX NPM_* npm_* YARN_* PNPM_* COREPACK_* BUN_* DENO_* ELECTRON_* PLAYWRIGHT_* PUPPETEER_* CYPRESS_* JEST_* VITEST*"},
		{"Python", "PYTHON* VIRTUAL_ENV* CONDA* _CONDA* _CE_* MAMBA_* PYENV* PIP_* PIPENV_* PIPX_* POETRY_* UV_* RYE_* PDM_* HATCH_* TOX_* NOX_* PYTEST_* COVERAGE_* DJANGO_SETTINGS_MODULE FLASK_APP FLASK_DEBUG JUPYTER_* MPLBACKEND HF_HOME"},
		{"Rust", "CARGO_* RUST*"},
		{"the JVM and Android", "JAVA_* JDK_* JRE_HOME CLASSPATH M2_HOME MAVEN_* MVNW_* GRADLE_* ANT_* KOTLIN_* SCALA_* SBT_* COURSIER_* SDKMAN_* ANDROID_*"},
		{"other languages", "RUBY* GEM_HOME GEM_PATH GEM_SPEC_CACHE BUNDLE_PATH BUNDLE_GEMFILE BUNDLE_BIN BUNDLE_WITHOUT BUNDLE_JOBS BUNDLE_DEPLOYMENT BUNDLE_FROZEN RBENV_* RVM_* rvm_* RAILS_ENV RACK_ENV PHP_* COMPOSER_* DOTNET_* NUGET_PACKAGES MSBUILD* " +
			"MIX_* HEX_HOME ERL_* REBAR_* GHC* STACK_* CABAL_* OPAM* CAML_* LUA_* LUAROCKS_* PERL* R_* JULIA_* SWIFT* DART_* PUB_CACHE FLUTTER_* ZIG_*"},
		{"package and version managers", "HOMEBREW_* NIX_* IN_NIX_SHELL ASDF_* MISE_* PROTO_* SPACK_* MODULEPATH LOADEDMODULES LMOD_*"},
		{"containers, clouds and databases: places, no keys", "DOCKER_* COMPOSE_* PODMAN_* BUILDKIT_* TESTCONTAINERS_* KUBECONFIG HELM_* MINIKUBE_* AWS_PROFILE AWS_REGION AWS_DEFAULT_REGION AWS_CONFIG_FILE CLOUDSDK_CONFIG PGHOST PGPORT PGUSER PGDATABASE"},
		{"the agent itself", "AGENT_*"},
		{"Windows", "SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERPROFILE USERNAME USERDOMAIN APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 COMMONPROGRAMFILES " +
			"COMMONPROGRAMFILES(X86) COMMONPROGRAMW6432 ALLUSERSPROFILE PUBLIC HOMEDRIVE HOMEPATH NUMBER_OF_PROCESSORS PROCESSOR_* OS COMPUTERNAME LOGONSERVER SESSIONNAME DRIVERDATA PSMODULEPATH VS* INCLUDE LIB LIBPATH"},
	}
}

// KeptGroup is a group of variables, separated by blanks.
type KeptGroup struct{ For, Names string }

// SecretParts are the parts of names that look like secrets; a name that ends in the last
// ones does too.
func SecretParts() (inside, atEnd []string) {
	return []string{"TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "AUTH", "APIKEY", "API_KEY", "PRIVATE", "JWT"}, []string{"_KEY", "_PAT", "_PWD"}
}

// keeper decides which variables a command inherits.
type keeper struct {
	names, prefixes map[string]bool
	own             []string // the user's names and, with * at the end, beginnings
}

func newKeeper(own []string) keeper {
	k := keeper{names: map[string]bool{}, prefixes: map[string]bool{}, own: own}
	for _, g := range Kept() {
		for name := range strings.FieldsSeq(g.Names) {
			if prefix, ok := strings.CutSuffix(name, "*"); ok {
				k.prefixes[prefix] = true
			} else {
				k.names[name] = true
			}
		}
	}
	return k
}

// password matches an address with a password or token before its host.
var password = lazyregexp.New(`://[^/@\s]*:[^/@\s]+@`)

// keeps reports whether a command inherits the variable. The user's names count most; a
// variable that steers a command needs its whole name.
func (k keeper) keeps(name, value string) bool {
	name = folded(name)
	named := func(own string) bool { return folded(own) == name }
	switch {
	case name == markName || isKey(name):
		return false
	case slices.ContainsFunc(k.own, named):
		return true
	case steers(name):
		return false
	case slices.ContainsFunc(k.own, func(own string) bool { return covers(own, name) }), k.names[name]:
		return true
	case LooksSecret(name), password.MatchString(value):
		return false
	}
	for i := range name {
		if k.prefixes[name[:i+1]] {
			return true
		}
	}
	return false
}

// covers reports whether a pattern of the user's covers a name.
func covers(pattern, name string) bool {
	prefix, ok := strings.CutSuffix(folded(pattern), "*")
	return ok && strings.HasPrefix(name, prefix)
}

// folded returns the name as it is compared: Windows ignores case.
func folded(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// LooksSecret reports whether a variable of this name may hold a key, a password or a token.
func LooksSecret(name string) bool {
	upper := strings.ToUpper(name)
	inside, atEnd := SecretParts()
	return slices.ContainsFunc(inside, func(part string) bool { return strings.Contains(upper, part) }) ||
		slices.ContainsFunc(atEnd, func(part string) bool { return strings.HasSuffix(upper, part) })
}

// Withheld returns the names of the variables in base that a command does not inherit
// because nobody named them, sorted. own are the user's names.
func Withheld(base, own []string) (names []string) {
	k := newKeeper(own)
	for _, kv := range base {
		name, value, ok := strings.Cut(kv, "=")
		if ok && name != "" && !k.keeps(name, value) && !replaces(name) && name != "_" && name != "OLDPWD" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Hidden returns the names of the variables in base that look like secrets, or are among
// secrets, and are not in env. A program that runs a command for us, with variables of its
// own, is to empty them.
func Hidden(base, env []string, secrets ...string) (names []string) {
	for _, kv := range base {
		name, _, ok := strings.Cut(kv, "=")
		secret := ok && name != "" && (isKey(name) || LooksSecret(name) || slices.Contains(secrets, name))
		if secret && !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") }) {
			names = append(names, name)
		}
	}
	return names
}
