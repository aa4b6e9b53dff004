package langserver

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// known lists the servers that are used without any configuration, the better of those for one
// language first.
var known = []Server{
	{Name: "gopls", Command: []string{"gopls"}, Languages: map[string]string{".go": "go"}, Markers: []string{"go.mod", "go.work"}, Settings: goplsSettings, Version: []string{"gopls", "version"}},
	{Name: "rust-analyzer", Command: []string{"rust-analyzer"}, Languages: map[string]string{".rs": "rust"}, Markers: []string{"Cargo.toml"}, Version: []string{"rust-analyzer", "--version"}},
	{Name: "clangd", Command: []string{"clangd"}, Languages: map[string]string{".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp"}, Markers: []string{"compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt"}, Version: []string{"clangd", "--version"}},
	{Name: "basedpyright", Command: []string{"basedpyright-langserver", "--stdio"}, Languages: python, Markers: pythonMarkers, Version: []string{"basedpyright", "--version"}},
	{Name: "pyright", Command: []string{"pyright-langserver", "--stdio"}, Languages: python, Markers: pythonMarkers, Version: []string{"pyright", "--version"}},
	{Name: "ty", Command: []string{"ty", "server"}, Languages: python, Markers: pythonMarkers, Version: []string{"ty", "--version"}},
	{Name: "vtsls", Command: []string{"vtsls", "--stdio"}, Languages: typescript, Markers: typescriptMarkers, Version: []string{"vtsls", "--version"}},
	{Name: "typescript-language-server", Command: []string{"typescript-language-server", "--stdio"}, Languages: typescript, Markers: typescriptMarkers, Settings: typescriptSettings, Passes: "typescript.tsserverRequest", Version: []string{"typescript-language-server", "--version"}},
	{Name: "zls", Command: []string{"zls"}, Languages: map[string]string{".zig": "zig"}, Markers: []string{"build.zig"}, Version: []string{"zls", "--version"}},
	{Name: "lua-language-server", Command: []string{"lua-language-server"}, Languages: map[string]string{".lua": "lua"}, Markers: []string{".luarc.json", ".luarc.jsonc"}, Version: []string{"lua-language-server", "--version"}},
	{Name: "jdtls", Command: []string{"jdtls"}, Languages: map[string]string{".java": "java"}, Markers: []string{"pom.xml", "build.gradle", "build.gradle.kts"}},
	{Name: "bash-language-server", Command: []string{"bash-language-server", "start"}, Languages: map[string]string{".sh": "shellscript", ".bash": "shellscript"}, Version: []string{"bash-language-server", "--version"}},
}

// Packages that use a changed one are to be judged soon: edits are few.
const goplsSettings = `{"diagnosticsDelay": "50ms"}`

var (
	python        = map[string]string{".py": "python", ".pyi": "python"}
	pythonMarkers = []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "pyrightconfig.json"}
	typescript    = map[string]string{".ts": "typescript", ".tsx": "typescriptreact", ".js": "javascript", ".jsx": "javascriptreact", ".mts": "typescript", ".cts": "typescript", ".mjs": "javascript", ".cjs": "javascript"}
	// A second server, which knows single files alone, would answer while the project is being read; and a
	// rename would end at the imports, which would keep the old name as an alias.
	typescriptSettings = `{"tsserver": {"useSyntaxServer": "never"}, "preferences": {"providePrefixAndSuffixTextForRename": false}}`
	typescriptMarkers  = []string{"tsconfig.json", "jsconfig.json", "package.json"}
)

// Known returns the names of the servers that need no configuration.
func Known() (names []string) {
	for _, s := range known {
		names = append(names, s.Name)
	}
	return names
}

// servers returns the person's servers, then the known ones.
func (o Options) servers() []Server {
	rest := slices.Clone(known)
	own := slices.Clone(o.Servers)
	for i, s := range own {
		if at := slices.IndexFunc(rest, func(k Server) bool { return k.Name == s.Name }); at >= 0 {
			own[i] = s.over(rest[at])
			rest = slices.Delete(rest, at, at+1)
		}
	}
	return append(own, rest...)
}

// over returns a known server with the parts of s that are set.
func (s Server) over(k Server) Server {
	if len(s.Command) > 0 {
		k.Command = s.Command
	}
	if len(s.Languages) > 0 {
		k.Languages = s.Languages
	}
	if len(s.Markers) > 0 {
		k.Markers = s.Markers
	}
	if s.Settings != "" {
		k.Settings = s.Settings
	}
	k.Broken = s.Broken
	return k
}

// lacks returns the reason why an entry is no server; "" if it is.
func (s Server) lacks() string {
	switch {
	case s.Broken != "":
		return s.Broken
	case len(s.Command) == 0:
		return "language_servers names no command for it"
	case len(s.Languages) == 0:
		return "language_servers names no languages for it"
	}
	return ""
}

// concerns reports whether a project folder is of a language of a server: it has one of the markers, or
// a file of the language itself.
func concerns(s Server, folder string) bool {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return slices.Contains(s.Markers, e.Name()) || e.Type().IsRegular() && s.Languages[strings.ToLower(filepath.Ext(e.Name()))] != ""
	})
}
