package house

import (
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestIDEFailures checks that the tests named in the list of failures exist.
func TestIDEFailures(t *testing.T) {
	page, err := os.ReadFile("docs/ide-failures.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testsByPackage(t)
	row := regexp.MustCompile(`(?m)^\| (\d+) \|[^|]*\|[^|]*\| (.*) \|$`)
	name := regexp.MustCompile("(lock|wire|client)? ?`(Test\\w+)`")
	rows := row.FindAllStringSubmatch(string(page), -1)
	if len(rows) != 35 {
		t.Errorf("%d failures, want 35", len(rows))
	}
	for _, r := range rows {
		pkg, named := "", 0
		for part := range strings.SplitSeq(r[2], ";") {
			for _, m := range name.FindAllStringSubmatch(part, -1) {
				if pkg = m[1]; pkg != "" {
					pkg = "/" + pkg
				}
				named++
				if !known(tests, "internal/ide"+pkg, m[2]) {
					t.Errorf("failure %s: internal/ide%s has no %s", r[1], pkg, m[2])
				}
			}
		}
		if named == 0 {
			t.Errorf("failure %s names no test", r[1])
		}
	}
}

// known reports whether a package has a test. In a list, a test without a package is of
// the same package as the one before, or of internal/ide.
func known(tests map[string][]string, pkg, name string) bool {
	if slices.Contains(tests[pkg], name) || slices.Contains(tests["internal/dev/house"], name) {
		return true
	}
	if pkg != "internal/ide" {
		return false
	}
	for _, below := range []string{"lock", "wire", "client"} {
		if slices.Contains(tests["internal/ide/"+below], name) {
			return true
		}
	}
	return false
}

func testsByPackage(t *testing.T) map[string][]string {
	t.Helper()
	tests := map[string][]string{}
	for _, f := range sources(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				tests[f.pkg] = append(tests[f.pkg], fn.Name.Name)
			}
		}
	}
	return tests
}

// TestNothingIsStarted checks that finding and using editors starts no process, since
// an editor's command may open a window.
func TestNothingIsStarted(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || !below(f.pkg, "internal/ide") {
			continue
		}
		for _, imp := range f.ast.Imports {
			if imp.Path.Value == `"os/exec"` {
				t.Errorf("%s can start processes", f.path)
			}
		}
	}
}
