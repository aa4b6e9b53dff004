package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Limits in lines of code, which exclude comments and blank lines.
const (
	maxFunction = 60
	maxFile     = 400
	maxTestFile = 600
)

func TestSizes(t *testing.T) {
	for _, f := range sources(t) {
		limit := maxFile
		if f.test {
			limit = maxTestFile
		}
		if f.lines > limit {
			t.Errorf("%s has %d lines of code, at most %d", f.path, f.lines, limit)
		}
	}
}

func TestFunctions(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			from, to := f.set.Position(fn.Pos()).Line, f.set.Position(fn.End()).Line
			if to-from+1 > maxFunction {
				t.Errorf("%s:%d: %s has %d lines, at most %d", f.path, from, fn.Name.Name, to-from+1, maxFunction)
			}
		}
	}
}

// TestMethods requires functions on a pointer to a type of their package to be methods.
func TestMethods(t *testing.T) {
	types := map[string]bool{}
	for _, f := range sources(t) {
		for _, name := range typeNames(f.ast) {
			types[f.pkg+"."+name] = true
		}
	}
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || strings.HasPrefix(strings.ToLower(fn.Name.Name), "new") {
				continue
			}
			if name := firstPointer(fn); name != "" && types[f.pkg+"."+name] {
				t.Errorf("%s: %s takes a *%s first: make it a method", f.set.Position(fn.Pos()), fn.Name.Name, name)
			}
		}
	}
}

// typeNames lists the types that a file declares, without aliases.
func typeNames(file *ast.File) []string {
	var names []string
	for _, d := range file.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			continue
		}
		for _, s := range gen.Specs {
			if spec, ok := s.(*ast.TypeSpec); ok && !spec.Assign.IsValid() {
				names = append(names, spec.Name.Name)
			}
		}
	}
	return names
}

// firstPointer returns the name of the type that the first parameter of fn points to,
// or "" if it is not a pointer to a named type.
func firstPointer(fn *ast.FuncDecl) string {
	if len(fn.Type.Params.List) == 0 {
		return ""
	}
	star, ok := fn.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return ""
	}
	name, ok := star.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return name.Name
}

// TestWords keeps private notes and traces of the machine out of the tree.
func TestWords(t *testing.T) {
	// assembled here, so that this file does not contain them
	words := []string{"TO" + "DO", "FIX" + "ME", "XX" + "X:", "/work/" + "main", "/work/" + "shared", "../sha" + "red"}
	eachFile(t, func(name string) {
		switch path.Ext(name) {
		case ".go", ".md", ".yml", ".yaml", ".sh", ".txtar", "":
		default:
			return
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			for _, w := range words {
				if strings.Contains(line, w) {
					t.Errorf("%s:%d: holds %q", name, i+1, w)
				}
			}
		}
	})
}

// source is one Go file of the module.
type source struct {
	path  string
	pkg   string // directory below the module, with forward slashes
	test  bool
	lines int // lines that hold code
	ast   *ast.File
	set   *token.FileSet
}

// parsed is filled once, since every test reads the same files.
var parsed = sync.OnceValues(parseAll)

func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func parseAll() ([]source, error) {
	var all []source
	err := walk(func(name string) error {
		if path.Ext(name) != ".go" {
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse: %w", err)
		}
		all = append(all, source{
			path: name, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
			lines: codeLines(src), ast: file, set: set,
		})
		return nil
	})
	return all, err
}

func eachFile(t *testing.T, visit func(name string)) {
	t.Helper()
	if err := walk(func(name string) error { visit(name); return nil }); err != nil {
		t.Fatal(err)
	}
}

// walk visits the files of the project, named from its root.
func walk(visit func(name string) error) error {
	return filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			hidden := strings.HasPrefix(base, ".") && base != "." && base != ".ci"
			if hidden || base == "testdata" || base == "node_modules" || base == "bin" || base == "dist" {
				return fs.SkipDir
			}
			return nil
		}
		return visit(filepath.ToSlash(name))
	})
}

// codeLines counts the lines with at least a part of a token.
func codeLines(src []byte) int {
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	n, last := 0, 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return n
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		from := file.Line(pos)
		to := from + strings.Count(lit, "\n")
		n += to - max(from-1, last)
		last = max(last, to)
	}
}

func TestCodeLines(t *testing.T) {
	for src, want := range map[string]int{
		"package a\n\n// c\nvar x = 1 // d\n":         2,
		"package a\nvar s = `1\n2\n3`\n":              4,
		"package a\nfunc f() {\n\n\treturn\n}\n":      4,
		"// only\n\npackage a\n/* x\n y */ var z int": 2,
	} {
		if got := codeLines([]byte(src)); got != want {
			t.Errorf("%q: %d lines, want %d", src, got, want)
		}
	}
}
