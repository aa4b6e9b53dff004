package house

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A panic in an unguarded goroutine leaves the terminal in raw mode. So goroutines are
// started by a crash.Group or begin with defer crash.Guard().
func TestGoroutinesAreGuarded(t *testing.T) {
	guarded := map[string]bool{} // functions, by package and name
	others := map[string]bool{}  // packages with other groups than ours
	started := 0
	for _, f := range sources(t) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if name, body := function(n); body != nil {
				name = f.pkg + "." + name
				guarded[name] = guarded[name] || guards(body)
			}
			if sel, ok := n.(*ast.SelectorExpr); ok && !f.test && (sel.Sel.Name == "WaitGroup" || named(sel.X, "errgroup")) {
				others[f.pkg] = true
			}
			return true
		})
	}
	for _, f := range sources(t) {
		if f.test || f.pkg == "internal/crash" || supports(f.pkg) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			body, starts := goroutine(n, others[f.pkg])
			if !starts {
				return true
			}
			started++
			if call, ok := body.(*ast.CallExpr); ok && called(call.Fun) == "Guarded" {
				return true
			}
			if fn, ok := body.(*ast.FuncLit); ok && guards(fn.Body) || guarded[f.pkg+"."+called(body)] {
				return true
			}
			t.Errorf("%s: the goroutine does not begin with defer crash.Guard()", f.set.Position(n.Pos()))
			return true
		})
	}
	if started < 10 {
		t.Errorf("%d goroutines found", started)
	}
}

// function returns the name and the body of a function that n declares or assigns to
// a variable.
func function(n ast.Node) (name string, body *ast.BlockStmt) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return n.Name.Name, n.Body
	case *ast.AssignStmt:
		if id, ok := n.Lhs[0].(*ast.Ident); ok {
			if fn, ok := n.Rhs[0].(*ast.FuncLit); ok {
				return id.Name, fn.Body
			}
		}
	}
	return "", nil
}

func named(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}

// goroutine returns the function that n starts in a goroutine: by a go statement, as
// the callback of a timer or a context or, if groups is set, by a method Go or TryGo.
func goroutine(n ast.Node, groups bool) (body ast.Expr, starts bool) {
	switch n := n.(type) {
	case *ast.GoStmt:
		return n.Call.Fun, true
	case *ast.CallExpr:
		if called(n.Fun) == "AfterFunc" && len(n.Args) == 2 {
			return n.Args[1], true
		}
		if sel, ok := n.Fun.(*ast.SelectorExpr); ok && groups && (sel.Sel.Name == "Go" || sel.Sel.Name == "TryGo") && len(n.Args) == 1 {
			return n.Args[0], true
		}
	}
	return nil, false
}

// guards reports whether body begins with defer crash.Guard().
func guards(body *ast.BlockStmt) bool {
	if len(body.List) == 0 {
		return false
	}
	d, ok := body.List[0].(*ast.DeferStmt)
	if !ok {
		return false
	}
	sel, ok := d.Call.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Guard"
}

// called names the function or method that is started.
func called(fun ast.Expr) string {
	switch fun := fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}

// The width of a text depends on the terminal. internal/cells has the only measure, which holds
// in all of them; libraries count for one kind of terminal.
func TestOneMeasureOfWidth(t *testing.T) {
	measures := regexp.MustCompile(`^(ansi\.(StringWidth|Truncate|Cut|Hardwrap|Wordwrap|Wrap|FirstGraphemeCluster)|lipgloss\.(Width|Size))`)
	for _, f := range sources(t) {
		if f.test || f.pkg == "internal/cells" || supports(f.pkg) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if id, ok := sel.X.(*ast.Ident); ok && measures.MatchString(id.Name+"."+sel.Sel.Name) {
					t.Errorf("%s: %s.%s measures for some terminals only: use internal/cells", f.set.Position(n.Pos()), id.Name, sel.Sel.Name)
				}
			}
			return true
		})
	}
}

// A failure must be repeatable, so random tests draw from a generator with a
// seed of internal/dev/stress, never from that of the process.
func TestRandomTestsHaveASeed(t *testing.T) {
	looked := 0
	for _, f := range sources(t) {
		if !f.test || !imports(f.ast, "math/rand/v2") && !imports(f.ast, "math/rand") {
			continue
		}
		looked++
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			fn, ok := call.Fun.(*ast.SelectorExpr)
			switch {
			case !ok || !named(fn.X, "rand"):
			case !strings.HasPrefix(fn.Sel.Name, "New"):
				t.Errorf("%s: rand.%s has no seed that a failure names", f.set.Position(n.Pos()), fn.Sel.Name)
			case strings.Contains(types.ExprString(call), "time.Now"):
				t.Errorf("%s: no failure names this seed", f.set.Position(n.Pos()))
			}
			return true
		})
	}
	if looked < 20 {
		t.Errorf("%d random tests found", looked)
	}
}

// imports reports whether a file imports a package.
func imports(f *ast.File, path string) bool {
	return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == strconv.Quote(path) })
}
