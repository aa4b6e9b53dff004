package highlight

import (
	"sync"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// languages lists the supported languages by their names in chroma. Others stay plain: some
// of chroma's rarer lexers do not terminate on every text, and a text may name any language.
var languages = []string{
	"Awk", "Bash", "Bash Session", "Batchfile", "C", "C#", "C++", "Clojure", "CMake", "Common Lisp", "CSS", "Dart",
	"Diff", "Docker", "Elixir", "Elm", "EmacsLisp", "Erlang", "Fish", "FSharp", "GLSL", "Go", "GraphQL", "Groovy",
	"Haskell", "HCL", "HTML", "INI", "Java", "JavaScript", "JSON", "Julia", "Kotlin", "Lua", "Makefile", "markdown",
	"Nginx configuration file", "Nix", "Objective-C", "OCaml", "Perl", "PHP", "PL/pgSQL", "PostgreSQL SQL dialect",
	"PowerShell", "properties", "Protocol Buffer", "Python", "Python 2", "R", "react", "Ruby", "Rust", "Sass", "Scala",
	"Scheme", "SCSS", "Solidity", "SQL", "Svelte", "Swift", "SYSTEMD", "Terraform", "TOML", "TypeScript", "VimL",
	"vue", "XML", "YAML", "Zig",
}

// known is a registry of these languages only. A lookup that finds no name tries the file
// patterns of the whole registry; this one is small.
var known = sync.OnceValue(func() *chroma.LexerRegistry {
	registry := chroma.NewLexerRegistry()
	for _, name := range languages {
		if lexer := lexers.Get(name); lexer != nil {
			registry.Register(lexer)
		}
	}
	return registry
})

// byLanguage returns the lexer of a language, or nil if it is unknown.
func byLanguage(name string) chroma.Lexer {
	const longest = 30
	if name == "" || len(name) > longest {
		return nil
	}
	return known().Get(name)
}
