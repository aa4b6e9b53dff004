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
	{Name: "gopls", Command: []string{"gopls"}, Languages: map[string]string{".go": "go"}, Markers: []string{"go.mod", "go.work"}},
	{Name: "rust-analyzer", Command: []string{"rust-analyzer"}, Languages: map[string]string{".rs": "rust"}, Markers: []string{"Cargo.toml"}},
	{Name: "clangd", Command: []string{"clangd"}, Languages: map[string]string{".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp"}, Markers: []string{"compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt"}},
	{Name: "basedpyright", Command: []string{"basedpyright-langserver", "--stdio"}, Languages: python, Markers: pythonMarkers},
	{Name: "pyright", Command: []string{"pyright-langserver", "--stdio"}, Languages: python, Markers: pythonMarkers},
	{Name: "ty", Command: []string{"ty", "server"}, Languages: python, Markers: pythonMarkers},
	{Name: "vtsls", Command: []string{"vtsls", "--stdio"}, Languages: typescript, Markers: typescriptMarkers},
	{Name: "typescript-language-server", Command: []string{"typescript-language-server", "--stdio"}, Languages: typescript, Markers: typescriptMarkers, Settings: typescriptSettings, Passes: "typescript.tsserverRequest"},
	{Name: "zls", Command: []string{"zls"}, Languages: map[string]string{".zig": "zig"}, Markers: []string{"build.zig"}},
	{Name: "lua-language-server", Command: []string{"lua-language-server"}, Languages: map[string]string{".lua": "lua"}, Markers: []string{".luarc.json", ".luarc.jsonc"}},
	{Name: "jdtls", Command: []string{"jdtls"}, Languages: map[string]string{".java": "java"}, Markers: []string{"pom.xml", "build.gradle", "build.gradle.kts"}},
	{Name: "bash-language-server", Command: []string{"bash-language-server", "start"}, Languages: map[string]string{".sh": "shellscript", ".bash": "shellscript"}},
}

var (
	python        = map[string]string{".py": "python", ".pyi": "python"}
	pythonMarkers = []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "pyrightconfig.json"}
	typescript    = map[string]string{".ts": "typescript", ".tsx": "typescriptreact", ".js": "javascript", ".jsx": "javascriptreact", ".mts": "typescript", ".cts": "typescript", ".mjs": "javascript", ".cjs": "javascript"}
	// A second server, which knows single files alone, would answer while the project is being read; and a
	// rename would end at the imports, which would keep the old name as an alias.
	typescriptSettings = `{"tsserver": {"useSyntaxServer": "never"}, "preferences": {"providePrefixAndSuffixTextForRename": false}}`
	typescriptMarkers  = []string{"tsconfig.json", "jsconfig.json", "package.json"}
)

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
