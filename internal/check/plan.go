package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/shellline"
	"github.com/bb2d0cf4/agent/internal/subpath"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// plan is how changes are tried.
type plan struct {
	title   string   // for people, without pkgs
	server  bool     // it is the name of a language server, in place of a command
	pkgs    []string // Go packages, relative to dir; nil for another command
	root    string   // the workspace folder with the files
	dir     string   // where the commands run, in root
	env     []string
	overlay bool // Go's overlay instead of a copy; go vet needs the folders on disk
	// lines returns the command lines; those after the first tell more about its failure.
	lines func(overlay string, pkgs []string) []string
}

// mostPkgs is the number of packages that a title names.
const mostPkgs = 3

// name returns the title with the packages.
func (p plan) name() string {
	if len(p.pkgs) > mostPkgs {
		return fmt.Sprintf("%s (%d packages)", p.title, len(p.pkgs))
	}
	return strings.Join(append([]string{p.title}, p.pkgs...), " ")
}

// runs reports whether p runs the same command as q, if maybe for other packages.
func (p plan) runs(q plan) bool {
	return p.title == q.title && p.root == q.root && p.dir == q.dir
}

// title returns the names of plans, for people.
func title(plans []plan) string {
	var names []string
	for _, p := range plans {
		if !slices.Contains(names, p.name()) {
			names = append(names, p.name())
		}
	}
	return strings.Join(names, ", ")
}

// plans returns how to try changes, each command once.
func (r *Runner) plans(all []workspace.Change) []plan {
	var out []plan
	for _, c := range all {
		p, ok := r.plan(c)
		if !ok {
			p, ok = r.byServer(c, all)
		}
		if !ok || p.pkgs != nil && empties(c, all) {
			continue
		}
		i := slices.IndexFunc(out, p.runs)
		switch {
		case i < 0:
			out = append(out, p)
		case p.pkgs != nil && !slices.Contains(out[i].pkgs, p.pkgs[0]):
			out[i].pkgs, out[i].overlay = append(out[i].pkgs, p.pkgs...), out[i].overlay && p.overlay
		}
	}
	return out
}

// empties reports whether c removes a Go file and all leaves none in its folder on disk.
func empties(c workspace.Change, all []workspace.Change) bool {
	left, err := filepath.Glob(filepath.Join(filepath.Dir(c.Path), "*.go"))
	return c.Delete && err == nil && !slices.ContainsFunc(left, func(path string) bool {
		return !slices.ContainsFunc(all, func(other workspace.Change) bool { return other.Delete && other.Path == path })
	})
}

// plan returns how to try a change; ok is false if no command suits it.
func (r *Runner) plan(c workspace.Change) (p plan, ok bool) {
	i := slices.IndexFunc(r.opt.Roots, func(root string) bool { return subpath.In(root, c.Path) })
	if i < 0 || r.opt.Command == Off || r.opt.Command == "" {
		return p, false
	}
	root := r.opt.Roots[i]
	if r.opt.Command != Auto {
		return single(r.opt.Command, root, root, r.opt.Command, nil), true
	}
	switch filepath.Ext(c.Path) {
	case ".go":
		return r.golang(c.Path, root)
	case ".ts", ".tsx", ".mts", ".cts":
		return typescript(c.Path, root)
	case ".rs":
		return r.rust(c.Path, root)
	}
	return p, false
}

// single returns the plan of one command that runs in a copy.
func single(title, root, dir, line string, env []string) plan {
	return plan{title: title, root: root, dir: dir, env: env, lines: func(string, []string) []string { return []string{line} }}
}

// packageIn names the package in a folder, relative to that of the module, for the go command.
func packageIn(rel string) string {
	if rel == "." {
		return "."
	}
	return "./" + filepath.ToSlash(rel)
}

// golang returns go vet for the package of a file. As go vet stops at the first error of
// a type, go build lists the others.
func (r *Runner) golang(path, root string) (p plan, ok bool) {
	dir, ok := holder(path, root, "go.mod")
	if !ok {
		return p, false
	}
	pkg := "."
	if rel, err := filepath.Rel(dir, filepath.Dir(path)); err == nil {
		pkg = packageIn(rel)
	}
	p = plan{title: "go vet", pkgs: []string{pkg}, root: root, dir: dir, overlay: exists(filepath.Dir(path)), env: r.goEnv(dir, root)}
	p.lines = func(overlay string, pkgs []string) []string {
		vet, build := []string{"go", "vet"}, []string{"go", "build", "-gcflags=-e", "-o", os.DevNull}
		if overlay != "" {
			vet, build = append(vet, overlay), append(build, overlay)
		}
		return []string{line(append(vet, pkgs...)), line(append(build, pkgs...))}
	}
	return p, true
}

// goEnv returns variables that keep the go command from the network, from flags that change
// files or run other programs, and from git, whose settings in the project may name programs.
func (r *Runner) goEnv(dir, root string) []string {
	mod := "-mod=readonly"
	for _, list := range []string{"go.mod", "go.work"} {
		if at, ok := holder(filepath.Join(dir, list), root, list); ok && exists(filepath.Join(at, "vendor", "modules.txt")) {
			mod = "-mod=vendor"
		}
	}
	flags := mod + " -buildvcs=false"
	for _, kv := range r.opt.Env {
		if own, ok := strings.CutPrefix(kv, "GOFLAGS="); ok {
			for _, flag := range strings.Fields(own) {
				if strings.HasPrefix(strings.TrimLeft(flag, "-"), "tags=") {
					flags += " " + flag
				}
			}
		}
	}
	return []string{"GOFLAGS=" + flags, "GOPROXY=off", "GOTOOLCHAIN=local"}
}

// typescript returns tsc for the project of a file: the project's own or that on PATH.
func typescript(path, root string) (p plan, ok bool) {
	dir, ok := holder(path, root, "tsconfig.json")
	if !ok {
		return p, false
	}
	program := "tsc"
	own := filepath.Join("node_modules", ".bin", "tsc")
	if at, ok := holder(filepath.Join(dir, "tsconfig.json"), root, own); ok {
		rel, err := filepath.Rel(dir, filepath.Join(at, own))
		if err != nil {
			return p, false
		}
		program = rel
	}
	const flags = "--noEmit --pretty false -p tsconfig.json"
	return single("tsc --noEmit", root, dir, line([]string{program})+" "+flags, nil), true
}

// rust returns cargo check for the package of a file.
func (r *Runner) rust(path, root string) (p plan, ok bool) {
	dir, ok := holder(path, root, "Cargo.toml")
	if !ok {
		return p, false
	}
	env := []string{"CARGO_NET_OFFLINE=true"}
	p = single("cargo check", root, dir, `cargo check --quiet --message-format short --target-dir "$TMPDIR/cargo"`, env)
	return p, true
}

// holder returns the nearest folder of a file, up to root, that has an entry called name.
func holder(file, root, name string) (dir string, ok bool) {
	for at := filepath.Dir(file); subpath.In(root, at); at = filepath.Dir(at) {
		if exists(filepath.Join(at, name)) {
			return at, true
		}
		if at == root {
			break
		}
	}
	return "", false
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// line returns words as a command line.
func line(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

// quote is shellline.Quote for a word that needs it: people read the command.
func quote(word string) string {
	plain := !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("-_./=:@%+,", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	if plain && word != "" {
		return word
	}
	return shellline.Quote(word)
}
