package tools

import (
	"context"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/langserver"
	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
)

// placesLimit is the number of places that a tool lists.
const placesLimit = 100

// maxPlaceLine bounds the line that is shown with a place, in bytes.
const maxPlaceLine = 200

// maxReason bounds the reason why something is not known, in characters.
const maxReason = 4 << 10

// Languages answers questions about names in code. langserver.Servers implements it.
type Languages interface { //nolint:interfacebloat // a method for each question
	// Serve reports whether there is anybody who answers.
	Serve() bool
	// Asked reports whether one has started, or need not.
	Asked() bool
	// Starts returns the programs that must start before a question is answered, about the file at path or,
	// without one, about the project.
	Starts(ctx context.Context, path string) []langserver.Usable
	// Allow has a program start with the next question for it.
	Allow(u langserver.Usable)
	Definition(ctx context.Context, at langserver.Place) ([]langserver.Location, error)
	References(ctx context.Context, at langserver.Place) ([]langserver.Location, error)
	Outline(ctx context.Context, at langserver.Place) ([]langserver.Symbol, error)
	Find(ctx context.Context, query string) ([]langserver.Symbol, error)
	Rename(ctx context.Context, at langserver.Place, name string, read func(path string) (string, error)) ([]langserver.FileEdit, error)
	// Fixes returns the names of the changes that are offered for the line of a place, and Fix carries one out.
	Fixes(ctx context.Context, at langserver.Place) ([]string, error)
	Fix(ctx context.Context, at langserver.Place, name string, read func(path string) (string, error)) ([]langserver.FileEdit, error)
}

var (
	findDefinitionFacts = Facts{Name: "find_definition", Kind: KindSearch, Helper: true}
	findReferencesFacts = Facts{Name: "find_references", Kind: KindSearch, Helper: true}
	listSymbolsFacts    = Facts{Name: "list_symbols", Kind: KindSearch, Helper: true}
	renameSymbolFacts   = Facts{Name: "rename_symbol", Kind: KindEdit, Hook: "Edit", Names: editNames, Keys: pathKeys}
	quickFixFacts       = Facts{Name: "quick_fix", Kind: KindEdit, Hook: "Edit", Names: editNames, Keys: pathKeys}
)

// firstLanguageTools is how many of languageTools are offered before a server has started. The others come to their end then:
// a request is small, and its beginning stays.
const firstLanguageTools = 3

// languageTools returns the tools that ask d.Languages.
func languageTools(d Deps) []Tool {
	return []Tool{findDefinition(d), findReferences(d), renameSymbol(d), listSymbols(d), quickFix(d)}
}

// symbolArgs name a symbol as a model knows it.
type symbolArgs struct {
	Symbol  string `json:"symbol"`
	At      string `json:"at"` // a path, maybe with a colon and the number or text of a line
	NewName string `json:"new_name"`
}

var symbolParams = []args.Param{{Name: "symbol", Kind: args.Text, Required: true}, {Name: "at", Kind: args.Text}}

func findDefinition(d Deps) Tool {
	return lookUp(d, findDefinitionFacts.Name, "Definition of ", Languages.Definition)
}

func findReferences(d Deps) Tool {
	return lookUp(d, findReferencesFacts.Name, "References to ", Languages.References)
}

// lookUp returns a tool that lists the places which a question about a symbol gives.
func lookUp(d Deps, tool, title string, ask func(Languages, context.Context, langserver.Place) ([]langserver.Location, error)) Tool {
	l := linguist{reader{d, tool}}
	return newTool(tool, symbolParams,
		func(a symbolArgs) string { return title + a.Symbol },
		func(ctx context.Context, call Call, a symbolArgs) (Result, error) {
			at, refused, err := l.place(ctx, call, a)
			if refused != nil || err != nil {
				return refused.OrNone(), err
			}
			found, err := ask(l.Languages, ctx, at)
			if err != nil {
				return l.unanswered(ctx, err)
			}
			if len(found) == 0 {
				return toolcall.Failed("Nothing was found for %s there. search_files finds its text.", a.Symbol), nil
			}
			return l.list(found, at.Path), nil
		}).foresees(func(a symbolArgs) []Foreseen { return l.foresee(l.split(a.At).path) }).brief().reads()
}

type listSymbolsArgs struct {
	Path  string `json:"path"`
	Query string `json:"query"`
}

func listSymbols(d Deps) Tool {
	l := linguist{reader{d, listSymbolsFacts.Name}}
	params := []args.Param{{Name: "path", Kind: args.Text}, {Name: "query", Kind: args.Text}}
	return newTool(l.tool, params,
		func(a listSymbolsArgs) string { return "Symbols" + withPath("of", a.Path) + withPath("like", a.Query) },
		func(ctx context.Context, call Call, a listSymbolsArgs) (Result, error) {
			if refused, err := l.begin(ctx, call, a.Path); refused != nil || err != nil {
				return refused.OrNone(), err
			}
			if a.Path == "" {
				return l.named(ctx, a.Query)
			}
			file, refused, err := l.text(ctx, call, a.Path)
			if refused != nil || err != nil {
				return refused.OrNone(), err
			}
			found, err := l.Languages.Outline(ctx, langserver.Place{Path: file.Path, Text: file.Text})
			if err != nil {
				return l.unanswered(ctx, err)
			}
			if a.Query != "" {
				found = slices.DeleteFunc(found, func(s langserver.Symbol) bool {
					return !strings.Contains(strings.ToLower(s.Name), strings.ToLower(a.Query))
				})
			}
			return l.listSymbols(found), nil
		}).foresees(func(a listSymbolsArgs) []Foreseen { return l.foresee(a.Path) }).brief().reads()
}

func renameSymbol(d Deps) Tool {
	l := linguist{reader{d, renameSymbolFacts.Name}}
	params := append(slices.Clone(symbolParams), args.Param{Name: "new_name", Kind: args.Text, Required: true})
	return newTool(l.tool, params,
		func(a symbolArgs) string { return "Rename " + a.Symbol + " to " + a.NewName },
		func(ctx context.Context, call Call, a symbolArgs) (Result, error) {
			at, refused, err := l.place(ctx, call, a)
			if refused != nil || err != nil {
				return refused.OrNone(), err
			}
			edits, err := l.Languages.Rename(ctx, at, a.NewName, l.other)
			if err != nil {
				return l.unanswered(ctx, err)
			}
			if len(edits) == 0 {
				return toolcall.Failed("Nothing to change. Check the name."), nil
			}
			return l.propose(ctx, call, "a rename of "+a.Symbol+" to "+a.NewName, edits)
		}).brief()
}

type quickFixArgs struct {
	At   string `json:"at"`
	Name string `json:"name"`
}

func quickFix(d Deps) Tool {
	l := linguist{reader{d, quickFixFacts.Name}}
	params := []args.Param{{Name: "at", Kind: args.Text, Required: true}, {Name: "name", Kind: args.Text}}
	return newTool(l.tool, params,
		func(a quickFixArgs) string {
			if a.Name == "" {
				return "Fixes for " + a.At
			}
			return a.Name + " at " + a.At
		},
		func(ctx context.Context, call Call, a quickFixArgs) (Result, error) {
			at, refused, err := l.line(ctx, call, a.At)
			if refused != nil || err != nil {
				return refused.OrNone(), err
			}
			if a.Name == "" {
				names, err := l.Languages.Fixes(ctx, at)
				if err != nil {
					return l.unanswered(ctx, err)
				}
				if len(names) == 0 {
					return toolcall.Failed("No fix is offered there."), nil
				}
				return l.counted(fixList(names), len(names), "change"), nil
			}
			edits, err := l.Languages.Fix(ctx, at, a.Name, l.other)
			if err != nil {
				return l.unanswered(ctx, err)
			}
			return l.propose(ctx, call, a.Name, edits)
		}).brief()
}

// fixList returns the first names, one a line.
func fixList(names []string) string {
	var b strings.Builder
	for _, name := range names[:min(len(names), placesLimit)] {
		b.WriteString(toolcall.OneLine(name, maxPlaceLine) + "\n")
	}
	return b.String()
}
