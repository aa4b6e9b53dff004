package footprint

import "strings"

// manifests maps programs that take commands from files to patterns of those files,
// relative to the folder where the program is started or one above it.
var manifests = byProgram(map[string]string{
	"make gmake":                   "Makefile makefile GNUmakefile *.mk",
	"just":                         "justfile Justfile .justfile *.just",
	"task go-task":                 "Taskfile.y*ml taskfile.y*ml",
	"go":                           "go.mod go.work",
	"golangci-lint":                ".golangci.*",
	"cargo rustc":                  "Cargo.toml build.rs .cargo/config .cargo/config.toml rust-toolchain*",
	"rake ruby bundle":             "Rakefile Gemfile *.gemspec .bundle/config",
	"rspec rails":                  "Rakefile Gemfile .rspec spec/spec_helper.rb",
	"gradle gradlew":               "build.gradle* settings.gradle* gradle.properties gradle/wrapper/*",
	"mvn mvnw":                     "pom.xml .mvn/*",
	"cmake ctest":                  "CMakeLists.txt CMakePresets.json *.cmake",
	"meson ninja":                  "meson.build build.ninja",
	"bazel bazelisk":               "BUILD BUILD.bazel WORKSPACE MODULE.bazel .bazelrc",
	"composer php phpunit":         "composer.json phpunit.xml*",
	"mix":                          "mix.exs",
	"dotnet msbuild":               "*.csproj *.fsproj *.sln *.props *.targets global.json",
	"docker docker-compose":        "Dockerfile* docker-compose.y*ml compose.y*ml",
	"podman podman-compose":        "Dockerfile* Containerfile* docker-compose.y*ml compose.y*ml",
	"git":                          ".git .git/config .git/config.worktree .git/hooks/* .gitattributes .gitmodules .husky/* HEAD config hooks/*",
	"pre-commit lefthook":          ".pre-commit-config.yaml lefthook.y*ml .lefthook.y*ml",
	"sbt":                          "build.sbt project/*.sbt project/*.scala",
	"lein":                         "project.clj",
	"zig":                          "build.zig",
	"swift":                        "Package.swift",
	"dune":                         "dune dune-project",
	"cabal stack":                  "*.cabal package.yaml stack.yaml Setup.hs",
	"nix nix-build":                "*.nix",
	"direnv":                       ".envrc",
	"inv invoke fab":               "tasks.py fabfile.py",
	"scons":                        "SConstruct SConscript",
	"python python3 pytest":        python,
	"pip pip3 uv poetry":           python,
	"tox nox hatch pipenv pdm rye": python,
	"npm npx pnpm pnpx":            node,
	"yarn bun bunx node":           node,
	"deno tsx ts-node":             node,
	"jest vitest mocha":            node,
	"eslint vite webpack":          node,
	"tsc turbo nx":                 node,
	"gulp grunt":                   node + " gulpfile.* Gruntfile.*",
})

const (
	python = "pyproject.toml setup.py setup.cfg tox.ini noxfile.py conftest.py tests/conftest.py pytest.ini uv.toml Pipfile sitecustomize.py"
	node   = "package.json tsconfig*.json .npmrc .yarnrc* .pnpmfile.cjs pnpm-workspace.yaml *.config.js *.config.ts *.config.mjs *.config.cjs *.config.mts *.config.json .eslintrc* .babelrc* .mocharc* deno.json* bunfig.toml turbo.json nx.json"
)

func byProgram(table map[string]string) map[string][]string {
	out := map[string][]string{}
	for programs, patterns := range table {
		for _, p := range strings.Fields(programs) {
			out[p] = strings.Fields(patterns)
		}
	}
	return out
}
