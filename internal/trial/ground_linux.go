//go:build amd64 || arm64

package trial

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/lookpath"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/room"
	"github.com/bb2d0cf4/agent/internal/subpath"
)

// system lists what every command sees of the system, to read. Missing ones are left out.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/snap",
	"/nix/store", "/gnu/store", "/run/current-system", "/home/linuxbrew/.linuxbrew",
	"/sys/devices/system/cpu", "/sys/devices/system/node",
}

// toolchains lists the folders of a home with programs and their parts, to read.
var toolchains = []string{
	"go/bin", "sdk", ".cargo/bin", ".rustup", ".pyenv", ".rbenv", ".rvm", ".nvm", ".fnm", ".volta", ".asdf", ".jenv", ".sdkman",
	".bun/bin", ".deno/bin", ".dotnet", ".ghcup", ".opam", ".juliaup", ".julia/juliaup", ".nix-profile", ".local/bin", ".local/lib",
	".local/share/mise", ".local/share/fnm", ".local/share/uv/python", ".local/share/uv/tools", ".local/share/pnpm", ".local/share/rtx", ".local/pipx", ".local/share/pipx",
	"miniconda3", "anaconda3", "miniforge3", ".config/nvm", ".swiftly", ".local/share/swiftly", "flutter", "Android/Sdk",
}

// homes lists the variables that name the folder of a toolchain.
var homes = []string{
	"GOROOT", "JAVA_HOME", "JDK_HOME", "M2_HOME", "MAVEN_HOME", "GRADLE_HOME", "KOTLIN_HOME", "SCALA_HOME", "RUSTUP_HOME", "PYENV_ROOT", "RBENV_ROOT",
	"NVM_DIR", "FNM_DIR", "FNM_MULTISHELL_PATH", "VOLTA_HOME", "SDKMAN_DIR", "DOTNET_ROOT", "BUN_INSTALL", "DENO_INSTALL", "PNPM_HOME",
	"GEM_HOME", "GEM_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "ANDROID_HOME", "ANDROID_SDK_ROOT", "FLUTTER_ROOT", "NIX_PROFILES",
}

// settings lists the files of a home that change what programs do, to read as far as they hold no keys.
var settings = []string{
	".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes", ".gitignore", ".gitignore_global", ".gitattributes",
	".cargo/config.toml", ".cargo/config", ".cargo/env", ".config/go/env", ".npmrc", ".yarnrc", ".yarnrc.yml", ".config/pnpm/rc", ".config/pip/pip.conf",
	".m2/settings.xml", ".m2/toolchains.xml", ".gradle/gradle.properties", ".mavenrc", ".editorconfig", ".clang-format", ".rustfmt.toml",
	".config/rustfmt/rustfmt.toml", ".tool-versions", ".nvmrc", ".python-version", ".config/ccache/ccache.conf", ".config/mise/config.toml", ".inputrc",
}

// emptied lists the folders of a home that are there without their content, because programs tell when they make one.
var emptied = []string{".java/.userPrefs"}

// cache is a folder in which programs keep downloads and results. A trial reads the real one and
// writes a private one over it, which only later trials use, if any.
type cache struct {
	variable string // that names it
	within   string // a folder in it that is meant; "" for itself
	at       string // otherwise, in the home
	program  string // makes a missing one
	kept     bool   // for later trials; the additions to others are in memory, and lost
	env      string // what keeps the programs from the network; "" for nothing
}

var caches = []cache{
	{variable: "GOCACHE", kept: true, at: ".cache/go-build", program: "go", env: "GOPROXY=off"},
	{variable: "GOMODCACHE", at: "go/pkg/mod", program: "go"},
	{variable: "GOLANGCI_LINT_CACHE", kept: true, at: ".cache/golangci-lint", program: "golangci-lint"},
	{variable: "STATICCHECK_CACHE", kept: true, at: ".cache/staticcheck", program: "staticcheck"},
	{variable: "npm_config_cache", at: ".npm", program: "npm", env: "npm_config_offline=true"},
	{variable: "YARN_CACHE_FOLDER", at: ".cache/yarn"},
	{at: ".yarn/berry"},
	{at: ".cache/pnpm"},
	{at: ".local/share/pnpm/store"},
	{at: ".cache/node"},
	{at: ".bun/install/cache"},
	{variable: "DENO_DIR", at: ".cache/deno"},
	{variable: "CARGO_HOME", within: "registry", kept: true, at: ".cargo/registry", program: "cargo", env: "CARGO_NET_OFFLINE=true"},
	{variable: "CARGO_HOME", within: "git", at: ".cargo/git"},
	{variable: "CCACHE_DIR", kept: true, at: ".cache/ccache", program: "ccache"},
	{at: ".ccache", kept: true},
	{variable: "SCCACHE_DIR", kept: true, at: ".cache/sccache"},
	{variable: "PIP_CACHE_DIR", at: ".cache/pip", env: "PIP_NO_INDEX=1"},
	{variable: "UV_CACHE_DIR", at: ".cache/uv", env: "UV_OFFLINE=1"},
	{variable: "POETRY_CACHE_DIR", at: ".cache/pypoetry"},
	{variable: "MYPY_CACHE_DIR", kept: true, at: ".cache/mypy"},
	{at: ".cache/pre-commit", kept: true},
	{at: ".cache/black"},
	{at: ".m2/repository", program: "mvn"},
	{at: ".m2/wrapper"},
	{variable: "GRADLE_USER_HOME", within: "caches", kept: true, at: ".gradle/caches", program: "gradle"},
	{variable: "GRADLE_USER_HOME", within: "wrapper", at: ".gradle/wrapper"},
	{at: ".gradle/native"},
	{variable: "COURSIER_CACHE", at: ".cache/coursier"},
	{at: ".ivy2/cache"},
	{at: ".nuget/packages"},
	{at: ".bundle/cache"},
	{variable: "COMPOSER_CACHE_DIR", at: ".cache/composer"},
	{variable: "PLAYWRIGHT_BROWSERS_PATH", at: ".cache/ms-playwright"},
	{variable: "PUPPETEER_CACHE_DIR", at: ".cache/puppeteer"},
	{at: ".cache/Cypress"},
	{at: ".cache/electron"},
	{at: ".cache/bazel", kept: true},
	{variable: "ZIG_GLOBAL_CACHE_DIR", kept: true, at: ".cache/zig"},
	{at: ".cache/vcpkg"},
	{at: ".cabal/packages"},
	{at: ".stack"},
	{at: ".mix"},
	{at: ".cache/rebar3"},
}

// place returns where the cache is.
func (c cache) place(env environment, home string) string {
	if dir := env.get(c.variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, c.within)
	}
	if first, ok := strings.CutPrefix(c.at, ".cache/"); ok && filepath.IsAbs(env.get("XDG_CACHE_HOME")) {
		return filepath.Join(env.get("XDG_CACHE_HOME"), first)
	}
	if gopath, _, _ := strings.Cut(env.get("GOPATH"), ":"); c.variable == "GOMODCACHE" && filepath.IsAbs(gopath) {
		return filepath.Join(gopath, "pkg/mod")
	}
	return filepath.Join(home, c.at)
}

// environment is the environment of a command.
type environment []string

// get returns the value of a variable; "" without one.
func (e environment) get(name string) string {
	for _, kv := range slices.Backward(e) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok && name != "" {
			return value
		}
	}
	return ""
}

// temporary is the space for temporary files in each of the folders for them, in memory.
const temporary = 1 << 30

// ground adds to a room what every command sees: the system, toolchains, settings, and an empty home.
func (t *Trials) ground(r *room.Room, env environment) {
	for _, path := range system {
		r.Show(path)
	}
	var st unix.Stat_t
	if unix.Lstat(t.etc.path, &st) == nil {
		t.etc.maskUnreadable(r, &st)
	}
	if dir := env.get("TMPDIR"); filepath.IsAbs(dir) && filepath.Clean(dir) != "/tmp" && !t.covers(dir) {
		r.Private(dir, temporary, os.ModeSticky|0o777)
	}
	home := env.get("HOME")
	if !filepath.IsAbs(home) {
		return
	}
	r.Private(home, temporary, 0o755)
	for _, name := range toolchains {
		r.Show(filepath.Join(home, name))
	}
	for _, name := range emptied {
		if path := filepath.Join(home, name); isFolder(path) {
			r.Private(path, 1<<20, 0o700)
		}
	}
	for _, name := range settings {
		if path := filepath.Join(home, name); permission.Keys(name, path, t.opt.Home) == "" {
			r.Show(path)
		}
	}
	for _, name := range homes {
		t.showPrograms(r, home, filepath.SplitList(env.get(name)))
	}
	t.showPrograms(r, home, filepath.SplitList(env.get("PATH")))
}

// isFolder reports whether a folder is at a path.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// showPrograms shows folders of programs, but none that holds more than that.
func (t *Trials) showPrograms(r *room.Room, home string, dirs []string) {
	for _, dir := range dirs {
		if filepath.IsAbs(dir) && !subpath.In(dir, home) && !subpath.In("/proc", dir) && !subpath.In("/run", dir) && !t.covers(dir) && !permission.Secret(dir) && !subpath.In(t.opt.Home, dir) && !subpath.In(dir, t.opt.Home) {
			r.Show(dir)
		}
	}
}

// systemDir is a folder of the system as it was last listed.
type systemDir struct {
	path  string
	stat  stamp
	files []string // paths of all but folders and links
	dirs  []*systemDir
}

// maskUnreadable hides files of a folder of the system, whose state is st, that not everybody may read: as root, or in another group, a
// command could. What cannot be listed the command cannot read either.
func (d *systemDir) maskUnreadable(r *room.Room, st *unix.Stat_t) {
	d.refresh(st)
	for _, path := range d.files {
		if unix.Lstat(path, st) == nil && st.Mode&0o004 == 0 {
			r.Mask(path, "")
		}
	}
	for _, below := range d.dirs {
		switch {
		case unix.Lstat(below.path, st) != nil:
		case st.Mode&0o005 != 0o005:
			r.Private(below.path, 1<<12, 0)
		default:
			below.maskUnreadable(r, st)
		}
	}
}

// refresh lists the folder again if its names may have changed.
func (d *systemDir) refresh(st *unix.Stat_t) {
	now, settled := stampOf(st)
	if d.stat == now {
		return
	}
	known := map[string]*systemDir{}
	for _, below := range d.dirs {
		known[below.path] = below
	}
	d.stat, d.files, d.dirs = settled, nil, nil
	entries, _ := os.ReadDir(d.path) // as far as it can be listed
	for _, e := range entries {
		switch path := d.path + "/" + e.Name(); {
		case e.Type()&fs.ModeSymlink != 0:
		case !e.IsDir():
			d.files = append(d.files, path)
		case known[path] != nil:
			d.dirs = append(d.dirs, known[path])
		default:
			d.dirs = append(d.dirs, &systemDir{path: path})
		}
	}
}

// caches adds the caches to a room, and returns what keeps programs from the network. Only a run keeps something for later: the
// room of a program that stays sees downloads as they come, and its other additions are lost.
func (t *Trials) caches(r *room.Room, env environment, run bool) (more []string, err error) {
	home, programs := env.get("HOME"), lookpath.Search{Path: env.get("PATH")}
	all := caches
	if !run {
		all = slices.Concat(caches, serverCaches)
	}
	for _, c := range all {
		if c.env != "" {
			more = append(more, c.env)
		}
		dir := c.place(env, home)
		if !filepath.IsAbs(dir) || subpath.In(dir, home) || t.covers(dir) {
			continue
		}
		lower, err := filepath.EvalSymlinks(dir)
		if err != nil {
			if _, missing := programs.Find(c.program); c.program == "" || missing != nil {
				continue
			}
		}
		if lower == "" { // nothing to show: a folder of its own costs less
			own := filepath.Join(t.folderOf(dir), "own")
			if err := os.MkdirAll(own, 0o755); err != nil { //nolint:gosec // as programs make their caches
				return nil, err
			}
			r.Write(dir, own)
			continue
		}
		if err := t.showCache(r, c, dir, lower, run); err != nil {
			return nil, err
		}
	}
	return more, nil
}

// showCache adds a cache that is there to a room.
func (t *Trials) showCache(r *room.Room, c cache, dir, lower string, run bool) (err error) {
	if !run && !c.kept {
		r.Live(dir)
		return nil
	}
	over := room.Overlay{Lower: lower}
	if run && c.kept {
		over, err = t.overlay(dir, lower)
	}
	if err == nil {
		r.Change(dir, over)
	}
	return err
}
