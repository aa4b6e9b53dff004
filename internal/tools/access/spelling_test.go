package access

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// No spelling of a path reads a file with keys, one of our own or one that a rule withholds, and
// none makes it another file for a proposal.
func TestNoSpellingEvadesTheGuard(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{
		".agent/credentials.json": "kept", "private/plan.txt": "kept", ".env": "kept", "A Long Folder/id_rsa": "kept", "plain.txt": "plain",
	})
	root := scratch.Workspace(t, dir, workspace.Options{})
	deny, err := permission.ParseRule(permission.Deny, "read(private/**)", "a test")
	if err != nil {
		t.Fatal(err)
	}
	files := Files{Root: root, Home: filepath.Join(root.Dir(), ".agent"), Withholds: permission.New(permission.Default, deny).Withholds}
	root.Guard(files.Guards)
	if f, err := root.Read("plain.txt"); err != nil || f.Text != "plain" {
		t.Fatal(f.Text, err)
	}
	rnd := rand.New(rand.NewPCG(stress.Seed(t), 0)) //nolint:gosec // spellings, not secrets
	kept := []string{".agent/credentials.json", "private/plan.txt", ".env", "A Long Folder/id_rsa"}
	found, tried := 0, stress.Size(5_000, 50_000)
	for range tried {
		name := kept[rnd.IntN(len(kept))]
		path := spell(rnd, root.Dir(), name)
		if f, err := root.Read(path); err == nil {
			t.Errorf("%s is read as %q: %s", name, path, f.Text)
		}
		abs, _, err := root.Resolve(path)
		if err != nil {
			continue
		}
		if abs == filepath.Join(root.Dir(), filepath.FromSlash(name)) {
			found++
		} else if _, data, err := root.Raw(abs); err == nil && string(data) == "kept" {
			t.Errorf("%s is %s as %q", name, abs, path)
		}
	}
	if found < tried/50 {
		t.Errorf("only %d of %d spellings lead to a file", found, tried)
	}
	t.Logf("%d of %d spellings lead to a file", found, tried)
}

// spell returns a random spelling of the file called name in dir, as some system may read it.
func spell(rnd *rand.Rand, dir, name string) string {
	one := func(all ...string) string { return all[rnd.IntN(len(all))] }
	seldom := func(s string) string {
		if rnd.IntN(12) == 0 {
			return s
		}
		return ""
	}
	parts := strings.Split(name, "/")
	if rnd.IntN(3) == 0 {
		dir = filepath.ToSlash(dir)
		if at := strings.IndexByte(dir, ':'); at > 0 {
			dir = one(dir, strings.ToLower(dir[:at])+dir[at:], seldom(`\\?\`)+dir, seldom(`\\.\`)+dir, seldom("//localhost/")+strings.Replace(dir, ":", "$", 1))
		}
		parts = append(strings.Split(dir, "/"), parts...)
	}
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			b.WriteString(one("/", "/", "/", string(filepath.Separator), seldom(`\`)+"/", seldom("/")+"/", "/"+seldom("./"), "/"+seldom("x/../"), "/"+seldom(parts[i-1]+"/../../"+parts[i-1]+"/")))
		}
		switch {
		case part == "" || strings.Contains(part, ":"):
		case rnd.IntN(8) == 0:
			part = strings.ToUpper(part)
		case rnd.IntN(7) == 0:
			part = strings.ToLower(part)
		case rnd.IntN(20) == 0:
			part = short(part)
		}
		b.WriteString(part + seldom(one(".", " ", "...", ". .", "::$DATA", ":s", ":$I30:$INDEX_ALLOCATION", "\u200b", "\u0301", "*", "?")))
	}
	return b.String()
}

// short returns the usual short name of a file on Windows.
func short(part string) string {
	stem, end, _ := strings.Cut(strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(part, "."), " ", "")), ".")
	stem = stem[:min(6, len(stem))] + "~1"
	if end != "" {
		stem += "." + end[:min(3, len(end))]
	}
	return stem
}
