package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/subpath"
)

// maxImporters is the number of packages that are tried beside the changed ones.
const maxImporters = 20

// importing runs the command of p, which has found nothing, for the packages that import
// those of p. If it finds problems there, it returns that plan and them, else p and after.
// An error means that those packages were not tried.
func (r *Runner) importing(ctx context.Context, p plan, overlay string, after outcome) (plan, outcome, error) {
	q, more := p, outcome{}
	pkgs, err := r.importers(ctx, p, overlay)
	if q.pkgs = pkgs; len(pkgs) > 0 {
		more, err = r.commands(ctx, q, p.dir, overlay)
	}
	switch {
	case err != nil:
		return p, after, fmt.Errorf("finds nothing there, but the packages that import it were not tried: %w", err)
	case !more.failed || len(more.problems) == 0:
		return p, after, nil
	}
	return q, more, nil
}

// importers returns the packages of the module that import those of p, of which there may
// be more than are returned.
func (r *Runner) importers(ctx context.Context, p plan, overlay string) ([]string, error) {
	got, err := r.command(ctx, p, p.dir, line([]string{"go", "list", "-e", overlay, "-f", importersOf(p.pkgs), "./..."}))
	if err != nil {
		return nil, err
	}
	if got.failed {
		return nil, errors.New("go list ./... fails")
	}
	var pkgs []string
	for dir := range strings.Lines(got.output) {
		rel, ok := subpath.Of(p.dir, strings.TrimSuffix(dir, "\n"))
		if !ok {
			continue // a warning
		}
		pkg := packageIn(rel)
		if !slices.Contains(pkgs, pkg) && !slices.Contains(p.pkgs, pkg) && len(pkgs) < maxImporters {
			pkgs = append(pkgs, pkg)
		}
	}
	return pkgs, nil
}

// importersOf returns a template for go list that writes the folder of each package that
// imports one of pkgs.
func importersOf(pkgs []string) string {
	var paths strings.Builder
	for _, pkg := range pkgs {
		fmt.Fprintf(&paths, " (print $m %q)", strings.TrimPrefix(pkg, "."))
	}
	var b strings.Builder
	b.WriteString("{{with .Module}}{{$m := .Path}}")
	for _, list := range []string{"Imports", "TestImports", "XTestImports"} {
		fmt.Fprintf(&b, "{{range $.%s}}{{if eq .%s}}{{println $.Dir}}{{end}}{{end}}", list, paths.String())
	}
	b.WriteString("{{end}}")
	return b.String()
}
