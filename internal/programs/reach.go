package programs

import (
	"slices"
	"strings"
)

// Reach is how much of a folder a line may run besides the files that are known.
type Reach int

// The reaches. A greater one includes the lesser.
const (
	Named    Reach = iota // nothing
	Sources               // the sources that a known program builds or tests
	Anything              // any file: the program is not known, or its text is in the line
)

// ReachOf returns how much of a folder p runs with some arguments; Named for an unknown program.
func (p *Program) ReachOf(args []string) Reach {
	first := ""
	if i := slices.IndexFunc(args, func(s string) bool { return !strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "+") }); i >= 0 {
		first = args[i]
	}
	switch {
	case p.Reach != nil:
		return p.Reach(first, args)
	case !p.Is.Has(Builds):
		return Named
	case contains("run exec generate start serve dev tool eval", first):
		return Anything
	}
	return Sources
}

func unless(named bool) Reach {
	if named {
		return Named
	}
	return Anything
}

func goReach(command string, args []string) Reach {
	named := func(s string) bool {
		return strings.Contains(s, "-vettool") || strings.Contains(s, "-toolexec") || strings.Contains(s, "-overlay")
	}
	switch {
	case contains("run generate tool fix", command):
		return Anything
	case command == "test", slices.ContainsFunc(args, named):
		return Sources
	}
	return Named
}

func cargoReach(command string, _ []string) Reach {
	switch {
	case command == "", contains("add clean fetch fmt help init metadata new remove rm search tree update version", command):
		return Named
	case contains("b bench build c check clippy d doc fix install nextest package publish t test vendor", command):
		return Sources
	}
	return Anything // also an alias of the project
}

func javaReach(_ string, args []string) Reach { return unless(slices.Contains(args, "-jar")) }

func terraformReach(command string, _ []string) Reach {
	return unless(contains("fmt validate version show output", command))
}

func jsReach(command string, args []string) Reach {
	if command == "test" || slices.Contains(args, "--test") {
		return Sources
	}
	return Named
}

// modules are the modules of Python that are not part of a project, as a rule, by how much of a
// folder they run.
var modules = [...]string{
	Named: `black build compileall ensurepip flake8 hatch http.server isort json.tool mkdocs mypy pip pip_audit piptools pipx poetry
		pre_commit py_compile pylint pyright ruff tarfile twine uv venv virtualenv zipfile`,
	Sources:  "alembic celery coverage django doctest flask gunicorn nox pytest sphinx tox unittest uvicorn",
	Anything: "cProfile ipykernel jupyter notebook pdb profile timeit trace",
}

// Module returns how much of a folder a module of Python runs; known is false for one that may
// belong to a project.
func Module(name string) (reach Reach, known bool) {
	i := slices.IndexFunc(modules[:], func(list string) bool { return name != "" && contains(list, name) })
	return Reach(max(i, 0)), i >= 0
}

// IsConsole reports whether a module of Python runs the text that it reads.
func IsConsole(name string) bool {
	name, _, _ = strings.Cut(name, ".")
	return contains("IPython asyncio bpython code idlelib pdb ptpython", name)
}
