package house

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/programs"
)

// judges are the packages that judge command lines by the names of programs.
var judges = []string{"internal/footprint", "internal/permission", "internal/tools/shell"}

// TestProgramsAreInOneTable: the packages that judge command lines have no lists of programs of their
// own, which would know programs that others do not. A list with more than two names that are
// in the table, and few others, is one.
func TestProgramsAreInOneTable(t *testing.T) {
	lists := 0
	for _, f := range sources(t) {
		if f.test || !slices.ContainsFunc(judges, func(dir string) bool { return below(f.pkg, dir) }) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			words := listed(n)
			lists += min(len(words), 1)
			var known []string
			for _, w := range words {
				if programs.Find(w).Known() && !slices.Contains(known, w) {
					known = append(known, w)
				}
			}
			if len(known) > 2 && len(known) > len(words)/2 {
				t.Errorf("%s lists %s: make it a column of internal/programs", f.set.Position(n.Pos()), strings.Join(known, " "))
			}
			return true
		})
	}
	if lists < 100 {
		t.Errorf("%d lists found", lists)
	}
}

// listed returns the words of a list in source text: the elements or keys of a literal, the words
// of a text with only names, the values of a case.
func listed(n ast.Node) (words []string) {
	var exprs []ast.Expr
	switch n := n.(type) {
	case *ast.CompositeLit:
		exprs = n.Elts
	case *ast.CaseClause:
		exprs = n.List
	case *ast.BasicLit:
		exprs = []ast.Expr{n}
	}
	for _, e := range exprs {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Key
		}
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				words = append(words, strings.Fields(text)...)
			}
		}
	}
	return words
}
